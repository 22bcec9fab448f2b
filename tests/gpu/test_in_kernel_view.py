"""What kernels recorded on a real GPU, in every format and as people see it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.cli.viewer import main
from proton.files.detect import open_profile
from proton.model.in_kernel import RecordedKernel
from proton.model.profile import Profile, TreeProfile
from proton.model.trace import LaneKind, SpanKind
from tests.support.profiles import trace_in

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(180)]

ROWS, COLUMNS, WARPS, LAUNCHES = 1000, 1024, 4, 3
FAR_NS = 50_000  # that clocks of host and device may be apart


@pytest.fixture
def record(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """`record("run.hatchet", mode=...)` launches the kernel some times and writes the file."""
    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    sys.modules.pop("viewed_kernels", None)
    import viewed_kernels  # type: ignore[import-not-found, unused-ignore]

    x = torch.randn(ROWS, COLUMNS, device="cuda")
    y = torch.empty_like(x)

    def run(name: str, output_format: str, *, cupti: bool = False, **options: Any) -> Path:
        path = tmp_path / name
        session = proton.start(str(path.with_suffix("")), backend="instrumentation", **options)
        if cupti:
            rest = {key: value for key, value in options.items() if key != "mode"}
            proton.start(str(path.with_suffix("")), backend="cupti", **rest)
        with proton.scope("step"):
            for _ in range(LAUNCHES):
                viewed_kernels.viewed_softmax[(ROWS,)](x, y, COLUMNS, B=1024, num_warps=WARPS)
        proton.finalize(session, output_format=output_format)
        assert torch.allclose(y, torch.softmax(x, 1), atol=1e-6), "records changed the result"
        return path

    return run


def entry_of(profile: Profile) -> RecordedKernel:
    """The one kernel; what the profile says where there is none or several."""
    found = [each for each in profile.in_kernel if each.kernel == "viewed_softmax"]
    why = f"{profile.in_kernel}; warnings {profile.warnings}, losses {profile.losses}"
    assert len(found) == 1, f"{len(found)} entries: {why}"
    return found[0]


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_a_tree_has_regions_below_the_kernel_and_their_spread(
    record: Any, output_format: str
) -> None:
    profile = open_profile(record(f"run.{output_format}", output_format, mode="default"))
    entry = entry_of(profile)
    assert entry.context == ("step",)
    assert (entry.launches, entry.recorded_warps) == (LAUNCHES, LAUNCHES * ROWS * WARPS)
    regions = {region.name: region for region in entry.regions}
    assert set(regions) == {"read", "sum up"}
    for region in regions.values():
        assert region.count == LAUNCHES * ROWS * WARPS, region
        assert region.p10 is not None, region
        assert region.p50 is not None, region
        assert region.p90 is not None, region
        assert 0 < region.p10 <= region.p50 <= region.p90, region
        assert region.line > 0, region
        assert region.file.endswith("viewed_kernels.py"), region
    assert isinstance(profile, TreeProfile)
    node = profile.tree.root.child("step").child("viewed_softmax")
    for name, region in regions.items():
        assert node.child(name).total("cycles") == pytest.approx(region.cycles, rel=1e-3, abs=50)


def test_ctas_fill_the_device_in_waves(record: Any, torch: Any) -> None:
    entry = entry_of(open_profile(record("run.hatchet", "hatchet", mode="cta")))
    ctas = entry.ctas
    assert ctas is not None, entry
    device = torch.cuda.get_device_properties(0)
    assert ctas.count == ROWS
    assert 0 < ctas.sms <= device.multi_processor_count
    assert ctas.waves is not None, ctas
    assert ctas.waves > 0.1, ctas
    busy = [share for share in ctas.per_sm if share is not None]
    assert busy, ctas
    assert all(0 < share <= 1.01 for share in busy), busy
    assert ctas.first_start_ns is not None, ctas
    assert ctas.last_end_ns is not None, ctas
    length_ns = ctas.last_end_ns - ctas.first_start_ns
    assert 1_000 < length_ns < 1e7, ctas
    assert ctas.tail_ns is not None, ctas
    assert 0 <= ctas.tail_ns <= length_ns, ctas


def test_the_viewer_shows_regions_and_waves(
    record: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record("run.hatchet", "hatchet", mode="default+cta")
    assert main([str(path)]) == 0
    tree = capsys.readouterr().out
    assert "read" in tree, tree
    assert " times" in tree, tree
    assert main(["--regions", "softmax", str(path)]) == 0
    table = capsys.readouterr().out
    for expected in (
        "sum up",
        "viewed_kernels.py:",
        "p50",
        " wave",  # "1.00 wave", "2.50 waves"
        "multiprocessors busy",
        "SM 0",
    ):
        assert expected in table, table


@pytest.mark.parametrize(
    ("name", "output_format"), [("run.pftrace", "perfetto"), ("run.chrome_trace", "chrome_trace")]
)
def test_warps_lie_in_the_time_of_their_kernel(record: Any, name: str, output_format: str) -> None:
    path = record(name, output_format, cupti=True, mode="default", data="trace")
    profile = open_profile(path)
    trace = trace_in(profile)
    kinds = [lane.kind for lane in trace.lanes]
    why = f"losses {profile.losses}, warnings {profile.warnings}"
    assert kinds.count(LaneKind.SM) > 1, why
    kernels = [
        (span.start_ns, span.start_ns + span.duration_ns)
        for span in trace.spans
        if span.kind is SpanKind.KERNEL and span.name == "viewed_softmax"
    ]
    assert len(kernels) == LAUNCHES, why
    regions = [span for span in trace.spans if trace.lanes[span.lane].kind is LaneKind.WARP]
    assert len(regions) == 2 * LAUNCHES * ROWS * WARPS, why
    assert sum(span.kind is SpanKind.CTA for span in trace.spans) == LAUNCHES * ROWS, why
    first, last = kernels[0][0] - FAR_NS, kernels[-1][1] + FAR_NS
    outside = [span for span in regions if not first <= span.start_ns <= last]
    assert not outside, f"{len(outside)} of {len(regions)}: {outside[:3]} not in {kernels}"
    assert {span.path[:2] for span in regions} == {("step", "viewed_softmax")}
    clock = regions[0].attributes["Frequency (MHz)"]
    assert isinstance(clock, float), regions[0]
    assert 300 < clock < 4000, regions[0]
