"""The difference of two profiles in the terminal: changes at equal runs, and verdicts."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.diff import unite
from proton.model.profile import TreeProfile
from proton.model.tree import detail_of
from proton.render.page.diff import diff_part
from proton.render.text.style import Style
from proton.render.text.verdicts import NO_VERDICTS, changes_of, verdict_columns
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions
from tests.support.profiles import Row, profile_of


def recorded(**kernels: tuple[int, ...]) -> TreeProfile:
    """A profile that knows how its kernels spread, each in a scope of its own."""
    rows: list[Row] = [(0, "ROOT", {})]
    details = {}
    for name, times in kernels.items():
        rows += [(1, f"in {name}", {}), (2, name, {"time (ns)": sum(times), "count": len(times)})]
        details[len(rows) - 1] = detail_of(times)
    profile = profile_of(rows)
    return replace(profile, tree=replace(profile.tree, details=details))


BEFORE = recorded(a=(10_000, 10_100) * 20, b=(5_000, 5_010) * 20, gone=(1_000, 1_000))
AFTER = recorded(a=(12_000, 12_100) * 20, b=(5_002, 5_012) * 20, new=(2_000, 2_000))


def shown(options: ViewOptions) -> list[str]:
    return view_lines(AFTER, options, Style(), BEFORE)


def test_a_tree_of_differences_has_verdicts() -> None:
    lines = shown(ViewOptions(sort=""))
    start = next(at for at, line in enumerate(lines) if "verdict" in line)
    drawn = [" ".join(line.split()) for line in lines[start:]]
    assert drawn[0] == "time us at equal runs verdict"
    assert drawn[2:10] == [
        "+80.000 +19.9 % ± 0.2 % slower ├─ in a",
        "+80.000 +19.9 % ± 0.2 % slower │ └─ a",
        "+4.000 ├─ in new (new)",
        "+4.000 │ └─ new",
        "-2.000 ├─ in gone (gone)",
        "-2.000 │ └─ gone",
        "+0.080 0.0 % ± 0.1 % same └─ in b",
        "+0.080 0.0 % ± 0.1 % same └─ b",
    ]
    assert lines[-1].startswith("at equal runs: how much longer a run takes, ± 95 % confidence")


def test_verdicts_are_those_of_the_page() -> None:
    part = diff_part(BEFORE, AFTER)
    assert part is not None
    union = unite(AFTER.tree, BEFORE.tree)
    rows = changes_of(AFTER, BEFORE, union, by_name=False)
    assert rows[0] is not None
    assert rows[0].verdict == part.total.verdict
    assert rows[0].change_ns == part.total.change_ns
    by_name = changes_of(AFTER, BEFORE, union, by_name=True)
    named = {frame.name: each for frame, each in zip(union.tree.frames, by_name, strict=True)}
    for kernel in part.kernels:
        change = named[kernel.name]
        assert change is not None
        assert (change.verdict, change.by_speed_ns) == (kernel.verdict, kernel.by_speed_ns)
        assert change.speed_half_width_ns == kernel.speed_half_width_ns
    scopes = {tuple(scope.path): scope.verdict for scope in part.scopes}
    for row, change in enumerate(rows):
        path = tuple(union.tree.path(row))
        if path in scopes:
            assert change is not None
            assert change.verdict == scopes[path]


def test_a_list_of_differences_has_verdicts_by_name() -> None:
    lines = [" ".join(line.split()) for line in shown(ViewOptions(is_sorted=True))]
    assert "+80.000 +19.9 % ± 0.2 % slower a" in lines
    assert "+4.000 new (new)" in lines


def test_who_names_metrics_gets_them_alone() -> None:
    lines = shown(ViewOptions(metrics=["time/us"]))
    assert "verdict" not in "".join(lines)


def test_files_that_do_not_know_how_runs_spread_have_no_verdicts() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", {"time (ns)": 5_000, "count": 2})]
    other: list[Row] = [(0, "ROOT", {}), (1, "k", {"time (ns)": 9_000, "count": 2})]
    lines = view_lines(profile_of(rows), ViewOptions(), Style(), profile_of(other))
    assert lines[-1] == NO_VERDICTS
    assert verdict_columns([None]) == []
