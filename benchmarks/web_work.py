"""Large made-up profiles for the benchmarks and tests of pages: traces and wide trees."""

from __future__ import annotations

import random

from proton.model.device import Device
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.metric import EMPTY, Metrics, MetricValue
from proton.model.profile import Header, Profile, TraceProfile, TreeProfile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import KernelDetail, Tree

H200 = Device("CUDA", "0", "90", 132, 1_980_000, 3_201_000, 6144, "NVIDIA H200")
HEADER = Header(session="made up", proton_version="0", start_time_ns=1_763_000_000_000_000_000)
LAYERS, KERNELS = 12, 26
DISTINCT = 8  # kernels of a layer of a numbered step
HOST, STREAM, COPIES = range(3)
LANES = (
    Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
    Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE),
    Lane("[0, 200009]", "GPU Stream 9", LaneKind.DEVICE),
)


class _Steps:
    """Steps of a model on one thread and two streams; times in nanoseconds."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.spans: list[Span] = []
        self.flows: list[Flow] = []
        self.host_ns = 0
        self.free_ns = [0, 0, 0]  # by lane: when it is free again
        names = [f"kernel_{number}_sm90_128x128x64_bf16" for number in range(60)]
        self.layers = [self.chance.choices(names, k=KERNELS) for _ in range(LAYERS)]

    def step(self) -> None:
        """One step: a copy of the batch, then layer by layer, now and then a slow host."""
        begun = self.host_ns
        self._launch(COPIES, "Memcpy HtoD", ("step",), SpanKind.COPY, 90_000)
        self.free_ns[STREAM] = max(self.free_ns[STREAM], self.free_ns[COPIES])
        for number, kernels in enumerate(self.layers):
            layer_begun, layer = self.host_ns, f"layer{number}"
            self.host_ns += self.chance.randrange(500, 40_000)
            for name in kernels:
                mean = 4_000 if number % 3 else 14_000
                time_ns = int(self.chance.expovariate(1 / mean)) + 1_200
                self._launch(STREAM, name, ("step", layer), SpanKind.KERNEL, time_ns)
            self._scope(layer, ("step", layer), layer_begun)
        if self.chance.random() < 0.1:
            self.host_ns = max(self.host_ns, self.free_ns[STREAM]) + 600_000
        self._scope("step", ("step",), begun)

    def numbered_step(self, number: int, span_count: int) -> None:
        """A step `step_NUMBER` of so many spans: layers that repeat a few kernels each."""
        step, begun, first = f"step_{number}", self.host_ns, len(self.spans)
        self._launch(COPIES, "Memcpy HtoD", (step,), SpanKind.COPY, 90_000)
        self.free_ns[STREAM] = max(self.free_ns[STREAM], self.free_ns[COPIES])
        launches, odd = divmod(span_count - (len(self.spans) - first) - 1 - LAYERS, 2)
        for layer in range(LAYERS):
            layer_begun, name = self.host_ns, f"layer{layer}"
            kernels = self.layers[layer][:DISTINCT]
            for at in range(launches * layer // LAYERS, launches * (layer + 1) // LAYERS):
                time_ns = int(self.chance.expovariate(1 / 6_000)) + 1_200
                path = (step, name)
                self._launch(STREAM, kernels[at % DISTINCT], path, SpanKind.KERNEL, time_ns)
            self._scope(name, (step, name), layer_begun)
        if odd:
            self._scope("log", (step, "log"), self.host_ns)
        self._scope(step, (step,), begun)

    def profile(self) -> TraceProfile:
        """What was recorded, by start."""
        order = sorted(range(len(self.spans)), key=lambda at: self.spans[at].start_ns)
        place = {old: new for new, old in enumerate(order)}
        flows = [Flow(place[source], place[target]) for source, target in self.flows]
        trace = Trace(LANES, [self.spans[at] for at in order], flows, HEADER.start_time_ns)
        return TraceProfile("big.pftrace", trace=trace, devices=[H200], header=HEADER)

    def _scope(self, name: str, path: tuple[str, ...], begun: int) -> None:
        self.spans.append(Span(name, SpanKind.SCOPE, HOST, begun, self.host_ns - begun, path))

    def _launch(
        self, lane: int, name: str, path: tuple[str, ...], kind: SpanKind, time_ns: int
    ) -> None:
        self.host_ns += self.chance.randrange(300, 2_500)
        call_ns = self.chance.randrange(2_200, 6_000)
        path = (*path, name)
        call = (f"launch {name}", SpanKind.SCOPE, HOST, self.host_ns, call_ns, path)
        self.spans.append(Span(*call, attributes={"function": "cuLaunchKernel"}))
        start_ns = max(self.host_ns + call_ns + 900, self.free_ns[lane] + 700)
        work = (name, kind, lane, start_ns, time_ns, path)
        self.spans.append(Span(*work, attributes={"grid": (132, 1, 1), "block": (128, 1, 1)}))
        self.flows.append(Flow(len(self.spans) - 2, len(self.spans) - 1))
        self.free_ns[lane] = start_ns + time_ns
        self.host_ns += call_ns


def big_trace(span_count: int, seed: int = 1) -> TraceProfile:
    """A trace of at least so many spans: scopes, launches, kernels, copies."""
    steps = _Steps(seed)
    while len(steps.spans) < span_count:
        steps.step()
    return steps.profile()


def stepped_trace(span_count: int, step_count: int, seed: int = 1) -> TraceProfile:
    """A trace of exactly so many spans in numbered steps, each a context of its own.

    That is how loops are written (`with proton.scope(f"step_{i}")`), and what makes contexts many.
    """
    steps = _Steps(seed)
    for number in range(step_count):
        size = span_count // step_count + (number < span_count % step_count)
        steps.numbered_step(number, size)
    return steps.profile()


def wide_tree(node_count: int, seed: int = 0) -> Profile:
    """A tree of so many nodes: scopes of different names with one kernel each."""
    numbers = random.Random(seed)
    build = _TreeBuilder()
    while len(build.frames) < node_count - 1:
        number = len(build.frames) // 2
        scope = build.add(0, Frame(f"layer{number // 100}_step{number}"))
        build.kernel(scope, f"kernel_{number % 50}_fp16", numbers)
    return build.profile("wide.hatchet")


class _TreeBuilder:
    def __init__(self) -> None:
        self.frames = [ROOT_FRAME]
        self.parents = [-1]
        self.own: list[Metrics] = [EMPTY]
        self.details: dict[int, KernelDetail] = {}

    def add(self, parent: int, frame: Frame, own: Metrics = EMPTY) -> int:
        self.frames.append(frame)
        self.parents.append(parent)
        self.own.append(own)
        return len(self.frames) - 1

    def kernel(self, parent: int, name: str, numbers: random.Random) -> None:
        time_ns, count = numbers.randrange(10**5, 10**7), numbers.randrange(40, 400)
        own: dict[str, MetricValue] = {"time (ns)": time_ns, "count": count}
        own |= {"device_id": "0", "device_type": "CUDA", "flops16": time_ns * 300_000}
        row = self.add(parent, Frame(name, FrameKind.KERNEL), own | {"bytes": time_ns * 1000})
        mean = time_ns // count
        attributes: Metrics = {"grid": (132, 1, 1), "block": (384, 1, 1), "registers": 168}
        self.details[row] = KernelDetail(mean // 2, mean * 2, mean, mean * 2, attributes)

    def profile(self, source: str) -> TreeProfile:
        tree = Tree(self.frames, self.parents, self.own, self.details)
        return TreeProfile(source, tree=tree, devices=[H200], header=HEADER)
