"""`Sampling`: where the warps of kernels stood and why they waited, as instruction sampling saw it.

What each context got of it stands in the tree as metrics; this is what is known beyond: how samples
were taken, instruction by instruction, and which source lines instructions belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

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
    """The samples of one instruction. `code` is empty where its bytes are not known."""

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

    symbol: str
    device_id: int | None = None
    arch: int | None = None  # 90 for sm_90
    module: str = ""  # tells kernels of one symbol apart, as Triton compiles several
    samples: int = 0
    contexts: int | None = None  # over how many contexts the samples were divided
    lines: str = ""  # FOUND, NO_LINE_TABLE or NO_CUBIN
    instructions: Sequence[Instruction] = ()  # the hottest, by offset
    other_samples: int = 0  # those of the other instructions
    line_samples: Sequence[LineSamples] = ()  # in traces, which have no contexts with metrics


class SourceFile(NamedTuple):
    """What a source file was when the recording ended."""

    sha256: str = ""
    size: int | None = None


def _no_files() -> Mapping[str, SourceFile]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sampling:
    """How instructions were sampled and what was seen. Numbers are None where a file has none."""

    period_cycles: int | None = None  # between two samples of a multiprocessor
    window_ns: int | None = None  # how long samples were taken each `every_ns`; 0 or None: always
    every_ns: int | None = None
    reasons: Sequence[str] = ()  # names of the hardware; their places are the reasons' numbers
    samples: int | None = None
    dropped: int | None = None
    non_user: int | None = None  # in code that belongs to no kernel of the program
    overflows: int | None = None  # drains that found the hardware's buffer full
    left_out: int | None = None  # samples of kernels that `include` did not name
    is_split: bool = False  # some kernel's samples were divided over contexts by time
    kernels: Sequence[SampledKernel] = ()
    lines: Sequence[SourceLine] = ()
    files: Mapping[str, SourceFile] = field(default_factory=_no_files)

    def stack(self, line: int) -> Iterator[int]:
        """`line` and the lines it was inlined into, the innermost first; none for NO_LINE."""
        while line != NO_LINE:
            yield line
            line = self.lines[line].parent
