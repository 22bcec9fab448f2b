"""`Sampling`: where the warps of kernels stood and why they waited, as instruction sampling saw it.

What each context got of it stands in the tree as metrics; this is what is known beyond: how samples
were taken, instruction by instruction, and which source lines instructions belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, NamedTuple

from proton.model.schema import FIRST, LARGEST, SAME, SUM, Stored

NUM_SAMPLES = "num_samples"
NUM_STALLED = "num_stalled_samples"
NUM_LATENCY = "num_latency_samples"
STALLED = "stalled_"  # before the name of a reason, in the metrics of a context

FOUND = "found"
NO_LINE_TABLE = "no line table"
NO_CUBIN = "no cubin"

NO_LINE = -1
_NO_COUNTS: Mapping[int, int] = MappingProxyType({})


class SourceLine(NamedTuple):
    """A line of a source file; `parent` is the number of the line it was inlined into."""

    file: str
    line: int
    function: str = ""
    parent: int = NO_LINE


class Instruction(NamedTuple):
    """An instruction and its samples. `code` is empty where its bytes are not known."""

    offset: int  # bytes from the start of the function
    code: bytes = b""
    line: int = NO_LINE  # number of its line, the innermost one
    samples: int = 0
    latency: int = 0  # those in whose cycle the scheduler issued nothing at all
    reasons: Mapping[int, int] = _NO_COUNTS  # number of a reason -> samples


class LineSamples(NamedTuple):
    """The samples of one line of a kernel, all its instructions together."""

    line: int
    samples: int = 0
    latency: int = 0
    reasons: Mapping[int, int] = _NO_COUNTS


@dataclass(frozen=True, slots=True)
class SampledKernel:
    """What was sampled in one kernel of one device."""

    symbol: Annotated[str, Stored("name in the binary", SAME)]
    device_id: Annotated[int | None, Stored("where it ran", SAME)] = None
    arch: Annotated[int | None, Stored("90 for sm_90", SAME)] = None
    module: Annotated[
        str,
        Stored("tells kernels of one symbol apart, as Triton compiles several", FIRST, sparse=True),
    ] = ""
    samples: Annotated[int, Stored("in all", SUM)] = 0
    contexts: Annotated[int | None, Stored("over how many contexts they were divided", LARGEST)] = (
        None
    )
    lines: Annotated[str, Stored("`found`, `no line table` or `no cubin`", sparse=True)] = ""
    instructions: Annotated[
        Sequence[Instruction],
        Stored(
            "by offset: every one of the kernels with most samples, 16384 together; of the others "
            "the hottest, at most 256 of a kernel and 1536 of all",
            sparse=True,
        ),
    ] = ()
    instruction_count: Annotated[
        int, Stored("how many its code has; left out: not known", LARGEST, sparse=True)
    ] = 0
    other_samples: Annotated[int, Stored("those of the other instructions", SUM, sparse=True)] = 0
    line_samples: Annotated[
        Sequence[LineSamples],
        Stored("in traces, which have no contexts with metrics: every line", sparse=True),
    ] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a source file was when the recording ended."""

    sha256: Annotated[str, Stored("its hash", sparse=True)] = ""
    size: Annotated[int | None, Stored("in bytes")] = None


def _no_files() -> Mapping[str, SourceFile]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sampling:
    """How instructions were sampled and what was seen. Numbers are None where a file has none.

    What was lost is counted over the whole session: each part of a recording has it up to its end,
    and the largest is all.
    """

    period_cycles: Annotated[
        int | None, Stored("cycles between two samples of a multiprocessor", FIRST)
    ] = None
    window_ns: Annotated[
        int | None, Stored("how long samples were taken in each `every_ns`; 0: always", FIRST)
    ] = None
    every_ns: Annotated[int | None, Stored("time from window to window", FIRST)] = None
    reasons: Annotated[
        Sequence[str],
        Stored(
            "the hardware's names of the reasons why a warp waits; places in this list are their "
            "numbers",
            sparse=True,
        ),
    ] = ()
    samples: Annotated[
        int | None,
        Stored("those that are in this file; a phase has those that were read out in it", SUM),
    ] = None
    dropped: Annotated[int | None, Stored("samples that were lost", LARGEST)] = None
    non_user: Annotated[
        int | None, Stored("samples in code that belongs to no kernel of the program", LARGEST)
    ] = None
    overflows: Annotated[
        int | None, Stored("drains that found the hardware's buffer full", LARGEST)
    ] = None
    left_out: Annotated[
        int | None, Stored("samples besides these, of kernels that `include` did not name", SUM)
    ] = None
    is_split: Annotated[
        bool,
        Stored(
            "whether samples of some kernel were divided over several contexts by its time in them",
            LARGEST,
            sparse=True,
        ),
    ] = False
    lines: Annotated[
        Sequence[SourceLine],
        Stored(
            "`[file, line, function, parent]`; `function` is `<inlined>` where no table names it; "
            "`parent` is the number of the line that it was inlined into, or -1",
            sparse=True,
        ),
    ] = ()
    kernels: Annotated[
        Sequence[SampledKernel], Stored("what was seen in each kernel, below", sparse=True)
    ] = ()
    files: Annotated[
        Mapping[str, SourceFile],
        Stored('path -> `{"sha256", "size"}` of source files as they were at the end', sparse=True),
    ] = field(default_factory=_no_files)

    def stack(self, line: int) -> Iterator[int]:
        """`line` and the lines it was inlined into, the innermost first; none for NO_LINE."""
        while line != NO_LINE:
            yield line
            line = self.lines[line].parent
