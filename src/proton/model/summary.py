"""What a file says about the recording as a whole: the `proton` key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from proton.model.device import Device
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import MetricKind
from proton.model.origins import KernelOrigins
from proton.model.ranks import Rank
from proton.model.sampling import Sampling
from proton.model.schema import FORMAT_VERSION, Stored
from proton.model.steps import StepSeries

_Said = partial(Stored, least=None, sparse=True)  # what is empty is not written


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FrameworkContext:
    """Which frames of a framework were recorded, and from when on."""

    tier: Annotated[str, _Said("`blame`: modules and backward; `ops`: operators too")] = ""
    torch: Annotated[str, _Said("version of torch that was observed")] = ""
    since_ns: Annotated[int | None, _Said("Unix time from which on frames were recorded")] = None
    refused: Annotated[str, _Said("why a higher tier could not be had; a sentence")] = ""
    backward_nodes: Annotated[int, _Said("nodes of backward passes that ran")] = 0
    backward_by_neighbour: Annotated[
        int, _Said("nodes and launches without a number: they stand below the node before them")
    ] = 0
    unknown_forward: Annotated[
        int, _Said("nodes whose forward path is not known: they stand below the backward call")
    ] = 0


@dataclass(frozen=True, slots=True)
class Header:
    """Who recorded what, where and when. A foreign file leaves all of it empty."""

    session: Annotated[str, _Said("name of the session")] = ""
    context: Annotated[str, _Said("`shadow`, `python`, `blame` or `ops`")] = ""
    framework_context: Annotated[
        FrameworkContext | None, _Said("what was recorded of a framework, below")
    ] = None
    data: Annotated[str, _Said("`tree` or `trace`")] = ""
    backends: Annotated[Sequence[str], _Said("names of the backends")] = ()
    mode: Annotated[str, _Said("mode string")] = ""
    command: Annotated[Sequence[str], _Said("the program's `sys.argv`")] = ()
    host: Annotated[str, _Said("where it ran")] = ""
    pid: Annotated[int | None, _Said("its process")] = None
    rank: Annotated[int | None, _Said("of the process, where a launcher gave it one")] = None
    proton_version: Annotated[str, _Said("version of Proton", name="version")] = ""
    python_version: Annotated[str, _Said("version of Python", name="python")] = ""
    triton_version: Annotated[
        str, _Said("version of Triton; null where it was not loaded", name="triton")
    ] = ""
    start_time_ns: Annotated[int | None, _Said("Unix time in nanoseconds")] = None
    end_time_ns: Annotated[int | None, _Said("the same")] = None
    ended_by: Annotated[str, _Said("the signal that ended the process, as in `SIGTERM`")] = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The `proton` key. `kinds` is None where the file does not say."""

    format: Annotated[int, Stored("version of this key: 1", least=None)] = FORMAT_VERSION
    header: Annotated[Header, Stored(flat=True)] = field(default_factory=Header)
    phase: Annotated[int | None, _Said("the phase in this file")] = None
    phases: Annotated[
        Sequence[int],
        _Said("the phases known when it was written; without `phase`: those that are in it"),
    ] = ()
    losses: Annotated[
        Mapping[str, int],
        _Said(
            "[kind of loss](#losses) -> how many events; in a part those of the session until then"
        ),
    ] = field(default_factory=_nothing)
    warnings: Annotated[Sequence[str], _Said("lines for the reader of the profile")] = ()
    autotune: Annotated[Sequence[Mapping[str, Any]], _Said("autotuning runs, below")] = ()
    metric_kinds: Annotated[
        Mapping[str, MetricKind],
        _Said("metric -> `exclusive` or `property`; the others are inclusive"),
    ] = field(default_factory=_nothing)
    sampling: Annotated[Sampling | None, Stored("what instruction sampling saw, below")] = None
    in_kernel: Annotated[
        Sequence[RecordedKernel],
        _Said("what instrumented kernels recorded about themselves, below"),
    ] = ()
    steps: Annotated[
        Sequence[StepSeries],
        _Said("the steps that the program marked, below; one entry for each process"),
    ] = ()
    origins: Annotated[
        Sequence[KernelOrigins],
        _Said("lines of the program that kernels of torch.compile come from, below"),
    ] = ()
    ranks: Annotated[
        Sequence[Rank],
        _Said(
            "the processes of a [merged](../guide/merge.md) profile, below, in the order of the "
            "numbers in `time_by_rank (ns)`"
        ),
    ] = ()
    kernels: Annotated[
        object,  # not checked here: the tree says how many rows there are
        _Said("tree only: list of `[node, min, max, p50, p99, attributes]`, below"),
    ] = None
    entries: Annotated[
        object,  # the same
        _Said("tree only: list of `[node, count]`: how often the scope of a node was entered"),
    ] = None
    kinds: Annotated[
        str | None,
        _Said(
            "tree only: one letter for each node in depth-first order: `r` root, `s` scope, "
            "`t` state, `p` Python frame, `k` kernel, `c` copy, `l` sample, `m` module, "
            "`o` operator, `b` `<backward>` or `<recompute>`"
        ),
    ] = None
    device_map: Annotated[object, _Said("trace only: the device map of a tree", name="devices")] = (
        None
    )
    devices: Sequence[Device] = ()
