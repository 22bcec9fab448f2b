"""Page, terminal and digest give one answer, on every recording: no number contradicts another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.analysis.tuning_work import drop_tuning
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from proton.render.page import page_data
from proton.render.text.digest import MOST_LETTERS, MOST_ROWS, digest_of
from proton.render.text.digest_markdown import markdown_lines
from proton.render.text.head import head_lines
from proton.render.text.style import Style
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions
from proton.render.units import format_count, format_time
from tests.support.pages import unpack

DATA = Path(__file__).parents[1] / "data"
EMPTY = ("empty.chrome_trace", "root_only.hatchet")  # no view shows them
RATES = ("flop_per_s", "byte_per_s", "share_of_peak", "bound", "headroom_ns")
TIMES = ("time_ns", "share", "count", "avg_ns", "min_ns", "max_ns")


def _recordings() -> list[str]:
    suffixes = (".hatchet", ".hatchet_msgpack", ".chrome_trace", ".pftrace")
    names = sorted(
        str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.suffix in suffixes
    )
    return [*(name for name in names if name not in EMPTY), "foreign_trace.json"]


def _read(name: str) -> TreeProfile:
    return prepare(open_profile(DATA / name))


def _page(profile: TreeProfile) -> dict[str, Any]:
    head, _ = unpack(page_data([profile]))
    (parts,) = head["profiles"]
    assert isinstance(parts, dict)
    return parts


def test_the_recordings_are_found() -> None:
    assert len(_recordings()) >= 38
    assert "h200/kernels.hatchet" in _recordings()


@pytest.mark.parametrize("name", _recordings())
def test_totals_losses_and_devices_agree(name: str) -> None:
    profile = _read(name)
    part, digest = _page(profile)["summary"], digest_of(profile)
    total = digest["total"]
    assert part["time_ns"] == total["time_ns"]
    assert part["kernels"] == total["kernels"]
    assert part["contexts"] == total["contexts"]
    for key, value in part["rates"].items():
        assert value == total[key], key
    assert part["lost"] == digest["losses"]
    assert part["says_losses"] == digest["says_losses"]
    assert part["device"] == digest["device"]
    assert [each["name"] for each in part["devices"]] == [
        each["shown"] for each in digest["devices"]
    ]

    shown, tuning = drop_tuning(profile)
    first = head_lines(shown, Style(), tuning)[0]
    if part["device"]:
        assert f"   {part['device']}   " in f"{first}   "
    if part["kernels"] is not None:
        assert f"   {format_count(part['kernels'])} kernel" in first
    if part["says_losses"]:
        assert f"{format_count(sum(part['lost'].values()))} lost" in first
    if part["time_metric"] == "time (ns)":
        assert f"total {format_time(part['time_ns'])}" in first
    facts = "\n".join(markdown_lines(digest))
    assert ("lost: nothing" in facts) == (part["says_losses"] and not part["lost"])


@pytest.mark.parametrize("name", _recordings())
def test_kernels_agree(name: str) -> None:
    profile = _read(name)
    parts, digest = _page(profile), digest_of(profile)
    table, rows = parts["kernels"], digest["kernels"]
    if table is None:
        assert not rows
        return
    assert len(table["name"]) == len(rows) + digest["more_kernels"]
    options = ViewOptions(is_sorted=True, without_autotune=True)
    listed = "\n".join(view_lines(profile, options, Style()))
    for at, row in enumerate(rows):
        raw = table["name"][at]
        shown = parts["names"].get(raw, [raw])[0]
        assert row["shown"] == shown or (len(shown) > MOST_LETTERS and "…" in row["shown"])
        assert f" {shown}" in listed
        for key in (*TIMES, *RATES):
            assert table[key][at] == row[key], (key, raw)
        for key in ("p50_ns", "p99_ns"):
            quantile = table[key][at]
            assert (None if quantile is None else quantile[0]) == row[key]
            assert (quantile is not None and len(quantile) > 1) == (key in row["estimated"])
        remarks = [table[key][at] for key in ("peak_remark", "recording_remark")]
        assert [text for text in remarks if text] == row["remarks"]
        if table["kind"][at] == "c":
            assert table["share_of_peak"][at] is None
            assert table["headroom_ns"][at] is None

    assert len({row["shown"] for row in rows}) == min(len(table["name"]), MOST_ROWS)


@pytest.mark.parametrize("name", _recordings())
def test_summary_and_roofline_save_the_same(name: str) -> None:
    parts = _page(_read(name))
    roofline, saved = parts["roofline"], parts["summary"]["rates"]["headroom_ns"]
    dots = [] if roofline is None else roofline["dots"]
    known = [dot["headroom_ns"] for dot in dots if dot["headroom_ns"] is not None]
    assert saved == (pytest.approx(sum(max(each, 0) for each in known)) if known else None)
    for dot in dots:
        if parts["kernels"] is None or dot["name"] not in parts["kernels"]["name"]:
            continue  # a scope that declares work
        at = parts["kernels"]["name"].index(dot["name"])
        same = [other for other in dots if other["name"] == dot["name"]]
        if len(same) == 1 and dot["kind"] == "k":
            assert dot["share_of_peak"] == pytest.approx(parts["kernels"]["share_of_peak"][at])
            assert dot["bound"] == parts["kernels"]["bound"][at]


@pytest.mark.parametrize("name", ["sampled.hatchet", "sampled.chrome_trace"])
def test_lines_of_a_digest_count_each_sample_once(name: str) -> None:
    samples = digest_of(_read(name))["samples"]
    assert sum(line["share"] for line in samples["lines"]) <= 1 + 1e-9
    assert samples["non_user"] == 41
