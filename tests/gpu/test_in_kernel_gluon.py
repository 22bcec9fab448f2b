"""Gluon, TMA and warp-specialised kernels under recording: results stay, each warp has its rows.

That all of it compiles is tested without a GPU, in tests/integration/test_hopper_kernels.py.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning
from tests.gpu.tools import CALLBACKS, CountedByCallback

# a kernel that hangs cannot be interrupted: then the process ends
pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(90, method="thread")]

LAUNCHES = 3
NAMES = [
    "gluon_rows",
    "gluon_tma",
    "gluon_specialized",
    "made_on_device",
    "made_on_host",
    "specialized",
]
FLUSH = "default:buffer_strategy=flush:buffer_type=global"
ROOT = Path(__file__).parents[2]
CALL_AT = {
    "call-at access": f"file={CALLBACKS}/count_bytes.ll:function=count_bytes:buffer_bytes=16",
    "call-at block": f"file={CALLBACKS}/visits.ll:at=block:function=on_block:buffer_bytes=2048",
}
SPANNING = ["default", "ops", "loops", "mma", "async-wait", "ops:ops=barrier,wait,copy,shared"]
MODES = [
    *SPANNING,
    *("cta", "bytes", "memory", *CALL_AT),
    *("default+ops+loops+mma+async-wait+memory", "ops:buffer_type=global", FLUSH),
]


@pytest.fixture
def cases(
    torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The kernels, on a GPU that can run them; what records cost is measured once for all tests."""
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("needs a Hopper GPU")
    triton = pytest.importorskip("triton")
    from tests.support import hopper_kernels

    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "costs"))

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        return torch.empty(size, dtype=torch.int8, device="cuda")

    triton.set_allocator(allocate)
    yield hopper_kernels
    triton.set_allocator(triton.runtime._allocation.NullAllocator())


# Launches a kernel as it is, in a process that can be killed.
PLAIN = """
import sys, torch, triton
from tests.support.hopper_kernels import CASES
triton.set_allocator(lambda size, *_: torch.empty(size, dtype=torch.int8, device="cuda"))
prepared = CASES[sys.argv[1]].prepare(torch, "cuda")
result = prepared.launch()
torch.cuda.synchronize()
print((result.float() - prepared.expected.float()).abs().max().item())
"""


@functools.cache
def plain_problem(name: str) -> str:
    """Why a kernel does not run without records; empty: it does."""
    command = [sys.executable, "-c", PLAIN, name]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if ran.returncode != 0:
        return f"it fails: {ran.stderr[-500:]}"
    return "" if float(ran.stdout) < 0.5 else f"it is wrong by {ran.stdout.strip()}"


def prepare(cases: Any, torch: Any, name: str, *, is_large: bool = False) -> Any:
    """A kernel's arguments on the GPU; skips where Triton's own specialisation does not work."""
    if name == "specialized" and (problem := plain_problem(name)):
        pytest.skip(f"kernel 'specialized' does not run without records: {problem}")
    case = cases.CASES[name]
    return case.larger(torch, "cuda") if is_large else case.prepare(torch, "cuda")


class Profile:
    """What a session wrote about one kernel."""

    def __init__(self, file: Any, kernel: str) -> None:
        self.file = file
        found = file.header.get("in_kernel", [])
        self.why = f"warnings {file.header.get('warnings')}, losses {file.header.get('losses')}"
        self.entries = [each for each in found if each["kernel"] == kernel]
        self.entry = self.entries[0] if self.entries else {}
        self.regions: list[dict[str, Any]] = self.entry.get("regions", [])
        self.time_ns: float = file.metrics(kernel).get("time (ns)", 0) if self.entries else 0

    def counts(self) -> Counter[str]:
        """Name of a region -> passages, wherever it stands."""
        found: Counter[str] = Counter()
        for region in self.regions:
            found[region["name"]] += region["count"]
        return found

    def lost(self) -> dict[str, int]:
        """What sums miss something by."""
        return {kind: n for kind, n in self.entry["losses"].items() if kind != "clock_outliers"}


@pytest.fixture
def record(
    tmp_path: Path, torch: Any, cases: Any, profile_of: Callable[..., Any]
) -> Callable[..., Profile]:
    """`record(work, kernel, mode)` runs `work` in a session and reads what it says of `kernel`."""

    def run(work: Callable[[], object], kernel: str, mode: Any, *, cupti: bool = False) -> Profile:
        torch.cuda.synchronize()
        path = str(tmp_path / "run")
        asked = f"call-at:{CALL_AT[mode]}" if mode in CALL_AT else mode
        session = proton.start(path, backend="instrumentation", mode=asked)
        if cupti:
            proton.start(path, backend="cupti")
        try:
            work()
            torch.cuda.synchronize()
        finally:
            proton.finalize(session)
        return Profile(profile_of(tmp_path / "run.hatchet"), kernel)

    return run


def check_times(profile: Profile) -> None:
    """Regions nest, and no warp spent more in them than the kernel ran."""
    entry, why = profile.entry, profile.why
    assert 0.3 < entry["clock_ghz"] < 4, why
    assert profile.time_ns > 500 * entry["launches"], why
    outermost, inside = 0.0, [0.0] * len(profile.regions)
    passages = [0] * len(profile.regions)
    for region in profile.regions:
        if region["count"] == 0:
            continue
        assert 0 <= region["min"] <= region["max"], region
        assert region["max"] / entry["clock_ghz"] <= 1.05 * profile.time_ns + 100, (region, why)
        if region["kind"] == "event":
            assert region["cycles"] > 0, region
            continue  # asynchronous: no part of what is around it
        parent = region.get("parent", -1)
        if parent < 0:
            outermost += region["cycles"]
        else:
            inside[parent] += region["cycles"]
            passages[parent] += region["count"]
    for region, cycles, count in zip(profile.regions, inside, passages, strict=True):
        assert cycles <= 1.02 * region["cycles"] + 40 * count, (
            f"parts of {region['name']} take {cycles} cycles, it {region['cycles']}"
        )
    mean_ns = outermost / entry["clock_ghz"] / entry["recorded_warps"]
    assert mean_ns <= 1.05 * profile.time_ns / entry["launches"] + 200, (mean_ns, profile.time_ns)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_results_are_bit_identical_and_records_make_sense(
    torch: Any, cases: Any, record: Any, name: str, mode: str
) -> None:
    case, prepared = cases.CASES[name], prepare(cases, torch, name)
    plain = prepared.launch()
    assert torch.allclose(plain.float(), prepared.expected.float(), rtol=2e-2, atol=0.3), (
        "the plain kernel is wrong"
    )
    results: list[Any] = []
    is_joined = "+" in mode
    is_of_source = mode in ("default", FLUSH)
    has_nothing = (name == "gluon_rows" and mode in ("mma", "async-wait")) or (
        name == "specialized" and is_of_source
    )
    warned = pytest.warns(ProtonWarning, match="captured nothing") if has_nothing else nullcontext()
    with warned:
        profile = record(
            lambda: results.extend(prepared.launch() for _ in range(LAUNCHES)), name, mode
        )
    for result in results:
        wrong = (result != plain).sum().item()
        assert wrong == 0, f"records changed {wrong} of {plain.numel()} numbers"
    assert prepared.launch().equal(plain), "the plain kernel is itself again"
    if has_nothing:
        assert profile.entries == [], "it has nothing to record"
        return
    assert len(profile.entries) == 1, profile.why
    entry = profile.entry
    assert entry["launches"] == LAUNCHES, profile.why
    recording = 1 if mode == "cta" else case.warps
    assert entry["recorded_warps"] == LAUNCHES * case.ctas * recording, (entry, profile.why)
    assert entry["ctas"]["count"] == case.ctas
    may_lose = {"overflowed_records", "unmatched"} if is_joined else set()
    assert set(profile.lost()) <= may_lose, (profile.lost(), profile.why)
    if mode in (*SPANNING, FLUSH, "ops:buffer_type=global") or is_joined:
        assert sum(profile.counts().values()) > 0, (entry, profile.why)
        if not profile.lost():
            check_times(profile)
    if is_of_source:
        expected = {scope: n * case.ctas * LAUNCHES for scope, n in case.scopes.items()}
        assert dict(profile.counts()) == expected, (profile.lost(), profile.why)
        for region in profile.regions:
            if (around := case.parents.get(region["name"])) is not None:
                assert profile.regions[region["parent"]]["name"] == around, region
    if mode in ("bytes", "memory"):
        found: Counter[str] = Counter()
        for site in entry["accesses"]:
            found[site["kind"]] += site["bytes"]
            assert site["tensor"] == case.tensors.get(site["kind"], ""), site
        expected = {kind: n * case.ctas * LAUNCHES for kind, n in case.moved.items()}
        assert found == expected, entry["accesses"]


def test_values_of_a_partition_are_those_of_its_loop(torch: Any, cases: Any, record: Any) -> None:
    case = cases.CASES["gluon_specialized"]
    profile = record(case.prepare(torch, "cuda").launch, case.name, "default")
    (value,) = profile.entry["values"]
    turns = [turn * cases.BK for turn in range(cases.TURNS)]
    assert value["name"] == "k"
    assert value["count"] == case.ctas * cases.TURNS, "the producer is one warp"
    assert (value["sum"], value["min"], value["max"]) == (
        case.ctas * sum(turns),
        0,
        max(turns),
    )


def rows_of(torch: Any, prepared: Any, mode: str, path: Path) -> dict[tuple[str, int], list[Any]]:
    """(CTA, warp) -> its spans on the first line of its lanes, by start."""
    torch.cuda.synchronize()
    session = proton.start(str(path), backend="instrumentation", data="trace", mode=mode)
    try:
        prepared.launch()
        torch.cuda.synchronize()
    finally:
        proton.finalize(session)
    trace = json.loads(path.with_suffix(".chrome_trace").read_bytes())
    rows: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for event in trace["traceEvents"]:
        lane = re.fullmatch(r"warp (\d+) \(line 0\)", str(event.get("tid", "")))
        if lane and "dur" in event and "value" not in event.get("args", {}):
            cta = re.search(r"CTA\d+", event["pid"])
            assert cta, event["pid"]
            rows[cta.group(), int(lane.group(1))].append(event)
    assert rows, trace["proton"].get("warnings")
    for spans in rows.values():
        spans.sort(key=lambda span: (span["ts"], -span["dur"]))
    return rows


def check_nesting(spans: list[Any]) -> None:
    """A span that begins inside another ends inside it."""
    open_: list[Any] = []
    slack = 0.003  # us, as times are rounded
    for span in spans:
        while open_ and open_[-1]["ts"] + open_[-1]["dur"] <= span["ts"] + slack:
            open_.pop()
        if open_:
            around = open_[-1]
            assert span["ts"] + span["dur"] <= around["ts"] + around["dur"] + slack, (
                f"{span['name']} outlasts {around['name']}: {span}, {around}"
            )
        open_.append(span)


CONSUMED, PRODUCED = {"all", "wait full", "mma", "store"}, {"wait empty", "issue"}


@pytest.mark.parametrize(
    ("mode", "consumers"),
    [
        ("default", {0, 1, 2, 3}),
        ("default:granularity=warp_group", {0}),
        ("default:granularity=warp_2", {0, 2}),
    ],
    ids=["warps", "warp groups", "pairs of warps"],
)
def test_each_warp_of_a_specialised_kernel_has_the_rows_of_its_partition(
    torch: Any, cases: Any, tmp_path: Path, mode: str, consumers: set[int]
) -> None:
    case, producer = cases.CASES["gluon_specialized"], cases.PRODUCER
    warps = {*consumers, producer}
    rows = rows_of(torch, case.prepare(torch, "cuda"), mode, tmp_path / "run")
    assert len({cta for cta, _ in rows}) == case.ctas
    for (cta, warp), spans in rows.items():
        regions = [span for span in spans if span["name"] != "tile"]
        check_nesting(regions)
        assert warp in warps, f"warp {warp} of {cta} records {[each['name'] for each in spans]}"
        expected = PRODUCED if warp == producer else CONSUMED
        found = Counter(span["name"] for span in regions)
        assert set(found) == expected, (cta, warp)
        assert found["issue" if warp == producer else "mma"] == cases.TURNS
    assert {warp for _, warp in rows} == warps
    for cta in {cta for cta, _ in rows}:
        issue = [each for each in rows[cta, producer] if each["name"] == "issue"]
        wait = [each for each in rows[cta, 0] if each["name"] == "wait full"]
        for asked, came in zip(issue, wait, strict=True):
            assert asked["ts"] < came["ts"] + came["dur"], "a tile came before it was asked for"


@pytest.mark.parametrize(
    ("sampled", "granularity", "kinds"),
    [
        (6, "warp", {"copy", "wait"}),  # the producer: see `hopper_kernels.PRODUCER`
        (1, "warp_group", {"copy", "wait"}),
        (0, "warp", {"copy", "wait", "dot"}),
        (0, "warp_group", {"copy", "wait", "dot"}),
    ],
)
def test_one_warp_of_a_specialised_kernel_can_be_sampled(
    torch: Any, cases: Any, record: Any, sampled: int, granularity: str, kinds: set[str]
) -> None:
    case = cases.CASES["gluon_specialized"]
    prepared = case.prepare(torch, "cuda")
    plain = prepared.launch()
    results: list[Any] = []
    chosen = f"sampling_strategy=selective:sampling_options={sampled}"
    mode = f"ops:granularity={granularity}:{chosen}"
    profile = record(lambda: results.append(prepared.launch()), case.name, mode)
    assert results[0].equal(plain)
    assert {region["kind"] for region in profile.regions if region["count"]} == kinds, profile.why
    assert profile.entry["recorded_warps"] == case.ctas


def test_automatic_specialisation_shows_partitions_at_work(
    torch: Any, cases: Any, tmp_path: Path
) -> None:
    """One partition copies, the others multiply; no warp does both."""
    rows = rows_of(torch, prepare(cases, torch, "specialized"), "ops", tmp_path / "run")
    kinds: dict[int, set[str]] = defaultdict(set)
    for (_, warp), spans in rows.items():
        check_nesting(spans)
        kinds[warp] |= {re.split(r"[ @]", span["name"])[0] for span in spans}
    print({warp: sorted(found) for warp, found in sorted(kinds.items())})
    copying = {warp for warp, found in kinds.items() if "copy" in found}
    multiplying = {warp for warp, found in kinds.items() if "dot" in found}
    assert copying, kinds
    assert multiplying, kinds
    assert not copying & multiplying, kinds
    assert len(multiplying) == 8, "two groups of four warps have half a tile each"


def test_a_callback_in_a_gluon_kernel_sees_every_byte(torch: Any, cases: Any, record: Any) -> None:
    case = cases.CASES["gluon_rows"]
    prepared = case.prepare(torch, "cuda")
    plain = prepared.launch()
    CountedByCallback.seen.clear()
    results: list[Any] = []
    record(lambda: results.append(prepared.launch()), case.name, CountedByCallback())
    assert results[0].equal(plain)
    assert CountedByCallback.seen == [
        (case.moved["load"] * case.ctas, case.moved["store"] * case.ctas)
    ]


@pytest.mark.parametrize("mode", ["bytes", "memory", *CALL_AT, "ops+cta+memory"])
@pytest.mark.parametrize("name", ["softmax", "matmul"])
def test_ordinary_kernels_stay_bit_identical_while_memory_is_watched(
    torch: Any, cases: Any, record: Any, name: str, mode: str
) -> None:
    prepared = cases.ORDINARY[name](torch, "cuda")
    plain = prepared.launch()
    results: list[Any] = []
    profile = record(lambda: results.extend(prepared.launch() for _ in range(LAUNCHES)), name, mode)
    assert len(profile.entries) == 1, profile.why
    assert profile.entry["launches"] == LAUNCHES
    assert profile.lost() == {}, profile.why
    for result in results:
        assert result.equal(plain), "records changed the result"


# Mode -> how many times as long the kernel may run, in GPU time, over all of its 64 turns.
BARS = {"default": 1.5, "ops": 1.5, "loops": 1.3, "cta": 1.05, "bytes": 1.3, "memory": 1.5}


@pytest.mark.parametrize("mode", BARS)
@pytest.mark.parametrize("name", ["gluon_tma", "gluon_specialized", "made_on_host", "specialized"])
def test_records_take_little_time(
    torch: Any, cases: Any, record: Any, tmp_path: Path, profile_of: Any, name: str, mode: str
) -> None:
    prepared = prepare(cases, torch, name, is_large=True)

    def work() -> None:
        for _ in range(30):
            prepared.kernel[prepared.grid](*prepared.arguments, **prepared.options)

    work()  # compiles
    torch.cuda.synchronize()
    session = proton.start(str(tmp_path / "plain"), backend="cupti")
    work()
    torch.cuda.synchronize()
    proton.finalize(session)
    plain = profile_of(tmp_path / "plain.hatchet").metrics(name)
    profile = record(work, name, mode, cupti=True)
    recorded = profile.file.metrics(name)
    assert plain["count"] == recorded["count"] == 30, profile.why
    ratio = recorded["time (ns)"] / plain["time (ns)"]
    changed = profile.entry.get("changed")
    print(f"{name} {mode}: {plain['time (ns)'] / 30e3:.1f} us plain, {ratio:.3f}x; {changed}")
    assert ratio <= BARS[mode], changed
