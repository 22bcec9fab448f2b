"""The hatchet format as types and constants; no code. Python's side of `format.h`.

A file is a list of two: the root node and the device map. What Proton adds stands under one key
`proton` of the root node, where other readers of the format do not look.
"""

from __future__ import annotations

from typing import Any, TypedDict

ROOT_NAME = "ROOT"
PROTON_KEY = "proton"

HATCHET = "hatchet"
HATCHET_MSGPACK = "hatchet_msgpack"
CHROME_TRACE = "chrome_trace"
PERFETTO = "perfetto"
TREE_FORMATS = (HATCHET, HATCHET_MSGPACK)
TRACE_FORMATS = (CHROME_TRACE, PERFETTO)
FORMATS = TREE_FORMATS + TRACE_FORMATS
# How the files of a format end; all but one are named like it.
SUFFIXES = {name: name for name in FORMATS} | {PERFETTO: "pftrace"}
FORMAT_OF_SUFFIX = {suffix: name for name, suffix in SUFFIXES.items()}

# Integers of a file fit into 64 bits, signed or not: what msgpack and native readers can hold.
MIN_INT = -(2**63)
MAX_INT = 2**64 - 1


class FrameObject(TypedDict):
    """The frame of a node; `type` is always `function`."""

    name: str
    type: str


class NodeObject(TypedDict):
    """A node as it stands in the file."""

    frame: FrameObject
    metrics: dict[str, int | float | str | list[int | float]]
    children: list[NodeObject]


class DeviceObject(TypedDict, total=False):
    """One device of the device map, which is device type -> device id -> this."""

    arch: str
    bus_width: int
    clock_rate: int  # kHz
    memory_clock_rate: int  # kHz
    num_sms: int
    name: str
    clock_residual_ns: int


DeviceMap = dict[str, dict[str, DeviceObject]]


class KernelSamplesObject(TypedDict, total=False):
    """What was sampled in one kernel."""

    symbol: str
    device_id: int
    arch: int  # 90 for sm_90
    module: str  # tells kernels of one symbol apart
    samples: int
    contexts: int  # over how many contexts the samples were divided
    lines: str  # "found", "no line table", "no cubin"
    # [offset, 16 bytes as base64 or "", line or -1, samples, latency samples, {reason: samples}]
    instructions: list[list[Any]]
    other_samples: int
    line_samples: list[list[Any]]  # traces: [line, samples, latency samples, {reason: samples}]


class SourceFileObject(TypedDict, total=False):
    """What a source file was when the recording ended."""

    sha256: str
    size: int  # bytes


class SamplingObject(TypedDict, total=False):
    """How instructions were sampled and what was seen."""

    period_cycles: int
    window_ns: int
    every_ns: int
    reasons: list[str]
    samples: int
    dropped: int
    non_user: int
    overflows: int
    left_out: int
    is_split: bool
    kernels: list[KernelSamplesObject]
    lines: list[list[Any]]  # [file, line, function, line that it was inlined into or -1]
    files: dict[str, SourceFileObject]


class RegionObject(TypedDict, total=False):
    """A region of an instrumented kernel; cycles of `p10` to `max` are of one passage."""

    name: str
    file: str
    line: int
    kind: str
    parent: int  # number of the region around it, or -1
    count: int
    cycles: float
    ns: float
    p10: float  # quantiles over warps
    p50: float
    p90: float
    min: float
    max: float
    every: int  # left out: every iteration


class RecordedKernelObject(TypedDict, total=False):
    """What an instrumented kernel recorded in one context and mode."""

    kernel: str
    context: list[str]
    mode: str
    device_id: int
    every: int  # in loops one iteration of so many, 0: none; left out: every one
    launches: int
    replays: int  # of launches in graphs, read or not
    recorded_warps: int
    clock_ghz: float
    record_cycles: float
    error_cycles: float
    regions: list[RegionObject]
    ctas: dict[str, Any]  # docs/reference/file-format.md has the keys of these
    values: list[dict[str, Any]]
    accesses: list[dict[str, Any]]
    heat: list[dict[str, Any]]
    uncovered: dict[str, int]
    losses: dict[str, int]
    changed: dict[str, list[float | None]]  # [without records, with them]


class RankObject(TypedDict, total=False):
    """One process of a merged profile."""

    rank: int
    source: str
    host: str
    pid: int
    device: str
    time_ns: int | float
    kernels: int | float
    lost: int


class ProtonObject(TypedDict, total=False):
    """What Proton says about the recording as a whole."""

    format: int
    version: str
    session: str
    context: str
    data: str
    backends: list[str]
    mode: str
    phase: int  # the phase this file holds
    phases: list[int]  # without `phase`: the phases this file was put together from
    command: list[str]
    host: str
    pid: int
    rank: int
    python: str
    triton: str | None
    start_time_ns: int
    end_time_ns: int
    losses: dict[str, int]
    warnings: list[str]
    autotune: list[dict[str, Any]]
    metric_kinds: dict[str, str]
    kinds: str  # one FrameKind letter a node, depth first
    kernels: list[list[Any]]  # [row, min, max, p50, p99 (ns), launch attributes]
    sampling: SamplingObject
    in_kernel: list[RecordedKernelObject]
    ranks: list[RankObject]  # of merged profiles
    devices: DeviceMap  # traces only, which have no device map of their own


class RootObject(NodeObject, total=False):
    """The root node, the only one with a key of ours."""

    proton: ProtonObject
