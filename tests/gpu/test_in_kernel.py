"""What kernels record about themselves on a real GPU, from the launch to the profile."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.launch_path import launches

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(180)]

ROWS, COLUMNS = 264, 1024
SIZE = 512


@pytest.fixture
def kernels(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The kernels of this test, and a cache of costs of its own."""
    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    sys.modules.pop("in_kernel_kernels", None)
    import in_kernel_kernels  # type: ignore[import-not-found, unused-ignore]

    return in_kernel_kernels


class Profile:
    """A profile that was written."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.in_kernel: list[dict[str, Any]] = file.header.get("in_kernel", [])

    def kernel(self, name: str) -> dict[str, Any]:
        """The one entry of a kernel."""
        found = [each for each in self.in_kernel if each["kernel"] == name]
        seen = [each["kernel"] for each in self.in_kernel]
        assert len(found) == 1, f"{len(found)} entries of {name!r} among {seen}; {self.why()}"
        return found[0]

    def regions(self, name: str) -> dict[str, dict[str, Any]]:
        """Its regions by name."""
        return {region["name"]: region for region in self.kernel(name)["regions"]}

    def why(self) -> str:
        """What the profile says went wrong."""
        header = self.file.header
        return f"warnings {header.get('warnings')}, losses {header.get('losses')}"


@pytest.fixture
def record(
    tmp_path: Path, torch: Any, kernels: Any, profile_of: Callable[..., Any]
) -> Callable[..., Profile]:
    """`record(work, mode="ops")` runs `work` in a session and reads what it wrote."""

    def run(work: Callable[[], object], *, cupti: bool = False, **options: Any) -> Profile:
        torch.cuda.synchronize()
        session = proton.start(str(tmp_path / "run"), backend="instrumentation", **options)
        if cupti:
            proton.start(str(tmp_path / "run"), backend="cupti", **{**options, "mode": None})
        try:
            work()
        finally:
            proton.finalize(session)
        return Profile(profile_of(tmp_path / "run.hatchet"))

    return run


@pytest.fixture
def softmax(torch: Any, kernels: Any) -> Callable[..., Any]:
    """`softmax()` launches it once; its result."""
    torch.manual_seed(0)
    x = torch.randn(ROWS, COLUMNS, device="cuda")

    def run() -> Any:
        y = torch.empty_like(x)
        kernels.softmax[(ROWS,)](x, y, COLUMNS, B=1024, num_warps=4)
        return y

    return run


@pytest.fixture
def matmul(torch: Any, kernels: Any) -> Callable[..., Any]:
    """`matmul()` launches it once; its result."""
    torch.manual_seed(0)
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float16) for _ in range(2))

    def run() -> Any:
        c = torch.empty(SIZE, SIZE, device="cuda", dtype=torch.float16)
        grid = (SIZE // 64, SIZE // 64)
        kernels.matmul[grid](a, b, c, SIZE, SIZE, SIZE, B=64, BK=32, num_warps=4)
        return c

    return run


def test_regions_of_the_source_are_recorded_in_every_warp(record: Any, softmax: Any) -> None:
    plain = softmax()
    results: list[Any] = []
    profile = record(lambda: results.extend(softmax() for _ in range(3)))
    assert all(result.equal(plain) for result in results), "records changed the result"
    entry = profile.kernel("softmax")
    assert entry["launches"] == 3, profile.why()
    assert entry["recorded_warps"] == 3 * 4 * ROWS
    assert 0.3 < entry["clock_ghz"] < 4
    regions = profile.regions("softmax")
    assert set(regions) == {"load", "reduce"}
    for region in regions.values():
        assert region["count"] == 3 * 4 * ROWS
        assert 0 < region["p10"] <= region["p50"] <= region["p90"] < 1e6
        assert region["line"] > 0
    assert entry["losses"] == {}, entry["losses"]
    below = profile.file.metrics("softmax/load")
    assert below["cycles"] > 0
    # `cycles` is a whole number on file: half a cycle of the sum is lost there
    expected = pytest.approx(below["cycles"] / (4 * ROWS), abs=0.5 / (4 * ROWS) + 1e-9)
    assert below["normalized_cycles"] == expected
    kernel = profile.file.metrics("softmax")
    assert kernel["count"] == 3
    assert 500 < kernel["time (ns)"] / 3 < 1e6


def test_a_record_has_a_cost_that_is_measured_once(
    record: Any, softmax: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "_known", {})  # by tests that ran before, in this process
    profile = record(softmax)
    cost = profile.kernel("softmax")["record_cycles"]
    print(f"a record costs {cost} cycles, {profile.kernel('softmax').get('error_cycles')} off")
    assert 2 < cost < 100, profile.why()
    costs = json.loads((tmp_path / "cache" / "record_costs.json").read_text())
    print(costs)
    assert cost in [each[0] for each in costs.values()]
    known = launches.kernels._by_number.values()
    records = [each.records for each in known if each.name == "softmax"][-1]
    monkeypatch.setattr(calibration, "_known", {})
    monkeypatch.setattr(calibration, "measure", lambda records: pytest.fail("measured again"))
    assert calibration.cost_of(records).cycles == cost, "the file was not read"


@pytest.mark.parametrize("mode", ["ops", "loops", "cta", "ops:buffer_type=global", "ops+cta"])
def test_modes_record_a_matmul_and_leave_its_result(record: Any, matmul: Any, mode: str) -> None:
    plain = matmul()
    results: list[Any] = []
    profile = record(lambda: results.extend(matmul() for _ in range(2)), mode=mode)
    assert all(result.equal(plain) for result in results), "records changed the result"
    entry = profile.kernel("matmul")
    assert entry["launches"] == 2, profile.why()
    ctas = entry["ctas"]
    assert ctas["count"] == (SIZE // 64) ** 2
    assert 1 <= ctas["sms"] <= ctas["count"]
    assert 0 < ctas["last_end_ns"] - ctas["first_start_ns"] < 1e7
    if mode != "cta":
        assert entry["regions"], profile.why()
        assert sum(region["count"] for region in entry["regions"]) > 0


@pytest.mark.parametrize(
    ("mode", "recorded"), [("loops", 16), ("ops+loops", 16), ("loops:cap=4", 4)]
)
def test_iterations_take_as_long_as_their_loop(
    record: Any, torch: Any, kernels: Any, mode: str, recorded: int
) -> None:
    """What waits for their loads is compiled to behind the record of their end."""
    x, y = torch.randn(ROWS, 16 * 1024, device="cuda"), torch.empty(ROWS, device="cuda")
    profile = record(lambda: kernels.squares[(ROWS,)](x, y, 16 * 1024, B=1024), mode=mode)
    regions = {region["kind"]: region for region in profile.kernel("squares")["regions"]}
    loop, turns = regions["loop"], regions["iteration"]
    print(f"{mode}: loop {loop['cycles']}, iterations {turns['cycles']}")
    assert turns["count"] == recorded * loop["count"], profile.why()
    share = turns["cycles"] / loop["cycles"]
    assert 0.9 < share <= 1.0 if recorded == 16 else 0.1 < share < 0.6


def test_marks_of_another_mode_are_not_counted_among_iterations(record: Any, matmul: Any) -> None:
    def turns_of(mode: str) -> int:
        profile = record(matmul, mode=f"{mode}:buffer_type=global")
        named = {region["name"]: region for region in profile.kernel("matmul")["regions"]}
        (name,) = (name for name in named if name.startswith("loop@"))
        return int(named[name.replace("loop", "iteration")]["count"])

    alone = turns_of("loops")
    assert alone > 0
    assert turns_of("ops+loops+async-wait") == turns_of("async-wait+loops") == alone


def test_launches_are_not_waited_for(record: Any, torch: Any, softmax: Any) -> None:
    """LaunchPath behind a long one return while it still runs."""
    softmax()
    took: list[float] = []

    def work() -> None:
        softmax()  # compiles, and measures what a record costs
        torch.cuda.synchronize()
        torch.cuda._sleep(400_000_000)  # about 0.2 s
        start = time.perf_counter()
        for _ in range(50):
            softmax()
        took.append(time.perf_counter() - start)

    profile = record(work)
    print(f"{took[0] / 50 * 1e6:.1f} us a launch")
    assert took[0] < 0.1, f"50 launches took {took[0] * 1e3:.1f} ms behind a busy GPU"
    assert profile.kernel("softmax")["launches"] == 51, profile.why()


def test_the_time_that_a_launch_gets_longer_is_small(torch: Any, record: Any, softmax: Any) -> None:
    def launch_us(count: int = 300) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            softmax()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count * 1e6

    softmax()
    plain = min(launch_us() for _ in range(3))
    recorded: list[float] = []

    def work() -> None:
        softmax()
        recorded.append(min(launch_us() for _ in range(3)))

    start = time.perf_counter()
    record(work)
    print(f"launch {plain:.1f} us plain, {recorded[0]:.1f} us recorded")
    print(f"session of 901 launches {time.perf_counter() - start:.2f} s", _native.InKernel.stats())
    assert recorded[0] - plain < 100


def test_beside_cupti_the_kernel_has_cuptis_time_and_our_regions(record: Any, softmax: Any) -> None:
    def work() -> None:
        with proton.scope("layer"):
            for _ in range(5):
                softmax()

    profile = record(work, cupti=True)
    kernel = profile.file.metrics("layer/softmax")
    assert kernel["count"] == 5, profile.why()
    assert profile.file.metrics("layer/softmax/load")["cycles"] > 0
    assert profile.kernel("softmax")["context"] == ["layer"]
    strange = ("memcpy", "memset", "known_regions")
    assert not [path for path in profile.file.paths() if any(each in path for each in strange)]


def test_warps_stand_on_lanes_inside_their_kernel(
    torch: Any, kernels: Any, softmax: Any, tmp_path: Path
) -> None:
    session = proton.start(str(tmp_path / "run"), backend="instrumentation", data="trace")
    proton.start(str(tmp_path / "run"), backend="cupti", data="trace")
    softmax()
    torch.cuda.synchronize()
    proton.finalize(session)
    trace = json.loads((tmp_path / "run.chrome_trace").read_bytes())
    events = trace["traceEvents"]
    spans = [each for each in events if str(each.get("tid", "")).startswith("warp ")]
    assert len(spans) == 2 * 4 * ROWS, trace["proton"].get("warnings")
    kernel = next(
        each for each in events if each.get("cat") == "kernel" and "softmax" in each["name"]
    )
    first = min(span["ts"] for span in spans)
    last = max(span["ts"] + span["dur"] for span in spans)
    print(f"kernel {kernel['ts']} + {kernel['dur']} us, records {first} to {last} us")
    assert kernel["ts"] - 1 <= first
    assert last <= kernel["ts"] + kernel["dur"] + 1
    assert spans[0]["pid"].startswith("softmax Core")


def test_a_graph_is_read_between_replays(
    torch: Any, kernels: Any, record: Any, softmax: Any
) -> None:
    plain = softmax()
    seen: list[Any] = []

    def work() -> None:
        softmax()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope("captured"):
            result = softmax()
        for _ in range(7):
            graph.replay()
        torch.cuda.synchronize()
        seen.append(result.clone())
        proton.deactivate(flushing=True)
        proton.activate()
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()

    profile = record(work)
    assert seen[0].equal(plain)
    captured = [each for each in profile.in_kernel if each["context"][:1] == ["<captured_at>"]]
    assert len(captured) == 1, (profile.in_kernel, profile.why())
    assert captured[0]["launches"] == 2, "one reading at the flush and one at the end"
    assert captured[0]["recorded_warps"] == 2 * 4 * ROWS
    assert captured[0].get("replays") == 10, (captured[0]["losses"], profile.why())
    assert captured[0]["losses"] == {"unread_replays": 8}, profile.why()


def test_replays_are_counted_beside_cupti_and_by_no_kernel_in_the_profile(
    torch: Any, record: Any, softmax: Any, tmp_path: Path, profile_of: Any
) -> None:
    graphs: list[Any] = []

    def work() -> None:
        softmax()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(20):
                softmax()
        for _ in range(50):
            graph.replay()
        torch.cuda.synchronize()
        graphs.append(graph)

    profile = record(work, cupti=True)
    entries = [each for each in profile.in_kernel if each["context"][:1] == ["<captured_at>"]]
    assert len(entries) == 1, (profile.in_kernel, profile.why())
    entry = entries[0]
    assert (entry["launches"], entry.get("replays")) == (20, 20 * 50), profile.why()
    assert entry["losses"] == {"unread_replays": 20 * 49}, profile.why()
    # A graph that CUPTI did not see being captured, as nobody asked it then.
    record(work)
    session = proton.start(str(tmp_path / "later"), backend="cupti")
    graphs[-1].replay()
    torch.cuda.synchronize()
    proton.finalize(session)
    for file in (profile.file, profile_of(tmp_path / "later.hatchet")):
        paths = list(file.paths())
        assert any("softmax" in path for path in paths), paths
        assert not [path for path in paths if "proton_" in path], paths


def test_streams_and_threads_are_told_apart_by_their_contexts(
    torch: Any, record: Any, softmax: Any
) -> None:
    softmax()

    def launch(name: str) -> None:
        with torch.cuda.stream(torch.cuda.Stream()), proton.scope(name):
            for _ in range(10):
                softmax()
        torch.cuda.synchronize()

    def work() -> None:
        threads = [threading.Thread(target=launch, args=(f"thread{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)

    profile = record(work)
    found = {each["context"][-1]: each["launches"] for each in profile.in_kernel}
    assert found == {f"thread{n}": 10 for n in range(4)}, profile.why()


def test_every_configuration_of_an_autotuner_is_a_kernel_of_its_own(
    torch: Any, kernels: Any, record: Any
) -> None:
    x = torch.zeros(1 << 16, device="cuda")

    def work() -> None:
        kernels.tuned[lambda meta: ((1 << 16) // meta["B"],)](x, 1 << 16)

    profile = record(work)
    entries = [each for each in profile.in_kernel if each["kernel"] == "tuned"]
    assert entries, profile.why()
    for entry in entries:
        assert entry["losses"] == {}
        assert entry["recorded_warps"] > 0


def test_a_long_kernel_streams_its_records_while_it_runs(
    torch: Any, kernels: Any, record: Any
) -> None:
    turns, ctas = 3000, 8
    x = torch.ones(ctas, device="cuda")
    mode = "default:buffer_strategy=flush:buffer_type=global:buffer_size=2048"

    def work() -> None:
        kernels.steps[(ctas,)](x, turns, num_warps=1)
        torch.cuda.synchronize()

    profile = record(work, mode=mode)
    entry = profile.kernel("steps")
    print(entry["losses"], profile.regions("steps")["step"])
    assert profile.regions("steps")["step"]["count"] == turns * ctas, entry["losses"]
    assert "overflowed_records" not in entry["losses"]


def test_a_ring_that_overflows_is_counted(torch: Any, kernels: Any, record: Any) -> None:
    turns, ctas = 1000, 8
    x = torch.ones(ctas, device="cuda")
    mode = "default:buffer_type=global:buffer_size=256"
    profile = record(lambda: kernels.steps[(ctas,)](x, turns, num_warps=1), mode=mode)
    entry = profile.kernel("steps")
    assert entry["losses"]["overflowed_records"] == ctas * (2 * turns - 32), entry["losses"]


def test_afterwards_kernels_are_plain_again(torch: Any, record: Any, softmax: Any) -> None:
    before, pool_bytes = softmax(), _native.InKernel.stats()["pool_bytes"]
    record(softmax)
    stats = _native.InKernel.stats()
    assert softmax().equal(before)
    assert _native.InKernel.stats()["launches"] == stats["launches"]
    assert stats["pool_bytes"] == pool_bytes, "buffers of graphs stay, all others go"


@pytest.fixture
def floats(torch: Any, kernels: Any) -> Callable[..., dict[str, Any]]:
    """`floats(x)` launches a kernel that records each number once a warp; what it recorded."""

    def run(x: Any) -> dict[str, Any]:
        double, result = x.double() / 3, torch.empty_like(x)
        kernels.floats[(len(x),)](x, x.half(), x.bfloat16(), double, result, num_warps=4)
        assert result.equal(x * 2) or not x.isfinite().all(), "records changed the result"
        either = torch.arange(len(x), device="cuda").double()
        either[1::2] = x[1::2].double()
        return {
            "fp32": x.double(),
            "fp16": x.half().double(),
            "bf16": x.bfloat16().double(),
            "fp64": double,
            "either": either,
        }

    return run


@pytest.mark.parametrize("mode", ["default", "default:buffer_type=global"])
def test_floats_of_every_width_add_up_to_what_torch_says(
    torch: Any, record: Any, floats: Any, mode: str
) -> None:
    torch.manual_seed(0)
    x = torch.randn(300, device="cuda") * 100
    expected: dict[str, Any] = {}
    profile = record(lambda: expected.update(floats(x)), mode=mode)
    found = {each["name"]: each for each in profile.kernel("floats")["values"]}
    assert set(found) == {*expected, "product"}, profile.why()
    for name, numbers in expected.items():
        value = found[name]
        print(value)
        assert value["count"] == 4 * len(x), (name, profile.kernel("floats")["losses"])
        assert (value["min"], value["max"]) == (numbers.min().item(), numbers.max().item()), name
        assert value["sum"] == pytest.approx(4 * numbers.sum().item(), rel=1e-9, abs=1e-6), name
        assert "not_finite" not in value
    # integers are exact where doubles are not; 299 times the number wraps as it does on the GPU
    products = (torch.arange(len(x)) * -4611686018427387905).tolist()
    assert (found["product"]["min"], found["product"]["max"]) == (min(products), max(products))


def test_numbers_that_are_not_finite_are_counted_and_left_out(
    torch: Any, record: Any, floats: Any
) -> None:
    x = torch.linspace(-3, 3, 64, device="cuda")
    x[5], x[9], x[63] = float("nan"), float("inf"), -float("inf")
    expected: dict[str, Any] = {}
    profile = record(lambda: expected.update(floats(x)))
    for value in profile.kernel("floats")["values"]:
        if value["name"] == "product":
            continue
        print(value)
        numbers = expected[value["name"]]
        finite = numbers[numbers.isfinite()]
        assert value["not_finite"] == 4 * (len(numbers) - len(finite)) > 0, value
        assert (value["min"], value["max"]) == (finite.min().item(), finite.max().item()), value
        assert value["sum"] == pytest.approx(4 * finite.sum().item(), rel=1e-9, abs=1e-9), value


def test_a_trace_has_every_float_as_it_was_recorded(
    torch: Any, floats: Any, tmp_path: Path
) -> None:
    x = torch.linspace(-3, 3, 64, device="cuda")
    x[5] = float("nan")
    session = proton.start(str(tmp_path / "run"), backend="instrumentation", data="trace")
    expected = floats(x)
    torch.cuda.synchronize()
    proton.finalize(session)
    trace = json.loads((tmp_path / "run.chrome_trace").read_bytes())
    for name in ("fp32", "fp16", "bf16", "fp64"):
        spans = [each for each in trace["traceEvents"] if each.get("name") == name]
        seen = [each["args"]["value"] for each in spans]
        assert seen.count("nan") == 4, trace["proton"].get("warnings")
        numbers = expected[name][expected[name].isfinite()].tolist()
        assert sorted(each for each in seen if each != "nan") == sorted(numbers * 4), name
