from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.in_kernel import HeatMap, RecordedKernel
from proton.render.page.in_kernel import in_kernel_part, kernel_records
from proton.render.page.pack import Columns
from proton.render.text.region_tables import kernel_lines
from proton.render.text.style import Style
from tests.support.in_kernel import KERNEL
from tests.support.page import ReadableColumns
from tests.support.pages import plain

DATA = Path(__file__).resolve().parents[3] / "data"


def part_of(name: str) -> dict[str, Any]:
    part = in_kernel_part(prepare(open_profile(DATA / name)), Columns())
    assert part is not None
    found: dict[str, Any] = plain(part)
    return found


def records_of(kernel: RecordedKernel, columns: Columns | None = None) -> dict[str, Any]:
    found: dict[str, Any] = plain(kernel_records(kernel, [], [], columns or Columns()))
    return found


def test_kernels_are_linked_to_their_contexts() -> None:
    kernels = part_of("in_kernel.hatchet")["kernels"]
    assert [(kernel["title"], kernel["context"], kernel["rows"]) for kernel in kernels] == [
        ("matmul_kernel", ["step", "forward"], [3]),
        ("matmul_kernel", ["step", "backward"], [13]),
        ("softmax_kernel", ["step", "forward"], [11]),
    ]
    assert kernels[0]["names"] == ["matmul_kernel"]


def test_regions_have_the_numbers_of_the_terminal() -> None:
    found = records_of(KERNEL)
    assert [(r["name"], r["depth"], r["cycles"], r["p50"]) for r in found["regions"]] == [
        ("tile", 0, 409600, 800), ("load a", 1, 102400, 200), ("dot", 1, 204800, 400),
        ("epilogue", 0, 6400, 100),
    ]  # fmt: skip
    lines = kernel_lines(KERNEL, Style(), full=True)
    shares = [f"{100 * region['share']:.1f}" for region in found["regions"]]
    for share, region in zip(shares, found["regions"], strict=True):
        line = next(line for line in lines if line.strip().startswith(region["name"]))
        assert share in line
    text = "\n".join(lines)
    said = ("facts", "region_notes", "access_notes")
    assert all(piece in text for key in said for piece in found[key])
    facts = found["ctas"]["facts"]
    assert f"{facts['count']} on {facts['sms']} multiprocessors, {facts['waves']:.2f} wave" in text
    assert found["error_cycles"] == 15


def test_regions_say_that_they_were_thinned_out() -> None:
    regions = (replace(KERNEL.regions[0], every=4), *KERNEL.regions[1:])
    found = records_of(replace(KERNEL, every=4, regions=regions))
    assert [region["every"] for region in found["regions"]] == ["1 of 4 iterations", "", "", ""]


def test_what_recording_changed_and_lost_is_said() -> None:
    found = records_of(KERNEL)
    assert found["mark"] == "(! spills, occupancy changed, records lost)"
    assert found["marks"] == [
        "matmul_kernel: recording changed it: spills 0 -> 16 bytes, occupancy 16 -> 12",
        "matmul_kernel: lost in-kernel: 12 overflowed_records",
    ]
    assert part_of("in_kernel.hatchet")["kernels"][0]["marks"][0].startswith("matmul_kernel: ")


def test_moments_have_no_cycles_rather_than_none_at_all() -> None:
    regions = part_of("in_kernel.hatchet")["kernels"][0]["regions"]
    assert regions[-1]["name"] == "done"
    assert regions[-1]["cycles"] is None


def test_values_accesses_and_heat_maps_are_there() -> None:
    columns = ReadableColumns()
    found = records_of(KERNEL, columns)
    assert found["values"] == [
        {"name": "k", "count": 64, "not_finite": 0, "mean": 2.0, "min": -1, "max": 4}
    ]
    assert [(a["tensor"], a["bytes"], a["share"]) for a in found["accesses"]] == [
        ("a_ptr", 49152, 0.75), ("", 16384, 0.25),
    ]  # fmt: skip
    (heat,) = found["heat"]
    assert (heat["tensor"], heat["bin_bytes"], heat["touched"]) == ("a_ptr", 4096, 3)
    assert columns.read(heat["bins"]) == [4, 0, 8, 500]
    assert columns.read(heat["byte_bins"]) == [16, 0, 64, 65456]
    assert found["access_notes"][-1].startswith("load a: first byte of CTA.warp 0.0 a_ptr +0")


def test_counts_past_32_bits_stay_what_they_are() -> None:
    columns = ReadableColumns()
    kernel = replace(KERNEL, heat=(HeatMap("x", bins=(2**40, 1)),))
    (heat,) = records_of(kernel, columns)["heat"]
    assert columns.read(heat["bins"]) == [2**40, 1]
    assert heat["byte_bins"] is None, "not known"


def test_a_trace_of_another_tool_has_a_table_of_regions_too() -> None:
    part = part_of("triton36_inkernel_trace.chrome_trace")
    (kernel,) = part["kernels"]
    told = [(each["name"], each["count"], each["cycles"]) for each in kernel["regions"]]
    assert told == [("load", 16, None), ("store", 16, None)]
    assert sum(each["share"] for each in kernel["regions"]) == pytest.approx(1)
    (launch,) = part["launches"]["shown"]
    assert (launch["title"], launch["kernel"]) == ("add", 0)


def test_a_tree_of_another_tool_has_sums_of_regions() -> None:
    (kernel,) = part_of("triton36_inkernel.hatchet")["kernels"]
    assert (kernel["title"], kernel["context"], kernel["facts"]) == ("add", ["add"], ["16 warps"])
    told = [(each["name"], each["cycles"], each["per_warp"]) for each in kernel["regions"]]
    assert told == [("load", 14209, pytest.approx(888.0625)), ("store", 904, 56.5)]
    assert {each["count"] for each in kernel["regions"]} == {None}, "the file does not say"
    assert "does not say how often" in kernel["region_notes"][0]


def test_a_profile_without_records_has_no_such_part() -> None:
    for name in ("gpt.hatchet", "proton_trace.chrome_trace"):
        assert in_kernel_part(prepare(open_profile(DATA / name)), Columns()) is None
