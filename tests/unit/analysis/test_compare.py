"""Tests of what became slower: order, matching of contexts, ranks, launches, scopes."""

from __future__ import annotations

import random
from dataclasses import replace

from proton.analysis.change import FASTER, GONE, MORE_RUNS, NEW, NOT_ENOUGH, SAME, SLOWER
from proton.analysis.compare import Comparison
from proton.analysis.run_times import RANKS, SPREAD
from proton.model.metric import Metrics
from proton.model.profile import TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS, Rank
from proton.model.tree import detail_of
from tests.support.profiles import Row, profile_of, tree_of_kinds


def recorded(**kernels: tuple[int, ...]) -> TreeProfile:
    rows: list[Row] = [(0, "ROOT", {}), (1, "step", {})]
    rows += [
        (2, name, {"time (ns)": sum(times), "count": len(times)}) for name, times in kernels.items()
    ]
    profile = profile_of(rows)
    assert isinstance(profile, TreeProfile)
    details = {row: detail_of(times) for row, times in enumerate(kernels.values(), 2)}
    return replace(profile, tree=replace(profile.tree, details=details))


def test_kernels_stand_in_the_order_of_their_change_whichever_way() -> None:
    before = recorded(a=(100, 100), b=(5000, 5000), c=(70, 70), gone=(2500, 2500))
    after = recorded(a=(110, 110), b=(1000, 1000), c=(70, 70), new=(30, 30))
    found = Comparison(before, after).kernels
    assert [each.name for each in found] == ["b", "gone", "new", "a", "c"]
    assert [each.change.verdict for each in found][:3] == [FASTER, GONE, NEW]


def test_a_kernel_that_runs_more_where_it_is_long_is_not_slower() -> None:
    def mixed(long_runs: int) -> TreeProfile:
        rows: list[Row] = [(0, "ROOT", {})]
        times = {"short": (100, 101, 102, 103), "long": (9000, 9100, 9200, 9300) * long_runs}
        for scope, each in times.items():
            rows += [(1, scope, {}), (2, "k", {"time (ns)": sum(each), "count": len(each)})]
        profile = profile_of(rows)
        assert isinstance(profile, TreeProfile)
        details = {2: detail_of(times["short"]), 4: detail_of(times["long"])}
        return replace(profile, tree=replace(profile.tree, details=details))

    (kernel,) = Comparison(mixed(1), mixed(3)).kernels
    assert kernel.change.verdict == MORE_RUNS
    assert (kernel.change.change_ns, kernel.change.by_speed_ns) == (73_200, 0)


def test_a_context_is_compared_by_its_rows() -> None:
    before = recorded(a=(1000, 1010) * 20, gone=(70, 70))
    after = recorded(a=(1500, 1510) * 20)
    found = Comparison(before, after)
    whole, scope, kernel, gone = (found.at(*rows) for rows in ((0, 0), (1, 1), (2, 2), (3, -1)))
    assert whole == found.total()
    assert kernel is not None
    assert kernel.verdict == SLOWER
    assert scope == found.scopes()[0].change
    assert gone is not None
    assert gone.verdict == GONE
    empty = recorded()
    assert Comparison(empty, empty).at(0, 0) is None


def test_scopes_that_were_renamed_leave_the_names_of_kernels() -> None:
    before = recorded(k=(1000, 1010, 1020, 1010))
    after = recorded(k=(1500, 1510, 1520, 1510))
    assert isinstance(after, TreeProfile)
    frames = [
        frame._replace(name=f"new {frame.name}") if frame.name == "step" else frame
        for frame in after.tree.frames
    ]
    moved = replace(after, tree=replace(after.tree, frames=frames))
    (kernel,) = Comparison(before, moved).kernels
    assert (kernel.change.verdict, kernel.change.basis) == (SLOWER, SPREAD)


def test_recordings_of_more_steps_are_compared_at_equal_runs() -> None:
    few = recorded(a=(1000, 1010, 1020), b=(500, 510, 520))
    many = recorded(a=(1000, 1010, 1020) * 3, b=(500, 510, 520) * 3)
    comparison = Comparison(few, many)
    assert comparison.ratio() == 3
    whole = comparison.total()
    assert (whole.verdict, whole.change_ns, whole.by_speed_ns) == (MORE_RUNS, 9120, 0)


def test_kernels_that_ran_more_often_each_in_its_own_way_have_no_common_ratio() -> None:
    before = recorded(a=(1000, 1010), b=(500, 510))
    after = recorded(a=(1000, 1010) * 2, b=(500, 510))
    comparison = Comparison(before, after)
    assert comparison.ratio() == 1
    assert (comparison.total().change_ns, comparison.total().by_speed_ns) == (2010, 0)
    assert Comparison(before, recorded(other=(5, 6))).ratio() == 1


def test_a_ratio_of_many_small_kernels_is_not_that_of_all() -> None:
    small = {f"k{at}": (10, 11) for at in range(20)}
    before = recorded(large=(90_000, 90_100), **small)
    after = recorded(large=(90_000, 90_100), **{name: each * 5 for name, each in small.items()})
    assert Comparison(before, after).ratio() == 1


def test_two_recordings_of_one_program_differ_in_next_to_nothing() -> None:
    chance = random.Random(11)

    def record() -> TreeProfile:
        return recorded(
            **{
                f"k{at}": tuple(round(chance.gauss(9000, 300)) for _ in range(30))
                for at in range(200)
            }
        )

    found = [each.change.verdict for each in Comparison(record(), record()).kernels]
    assert found.count(SAME) >= 0.95 * len(found)


def test_ranks_in_both_are_compared_one_by_one() -> None:
    def merged(*times: int) -> TreeProfile:
        own: Metrics = {"time (ns)": sum(times), "count": 30, TIME_BY_RANK_NS: times}
        ranks = tuple(Rank(at) for at in range(len(times)))
        return replace(profile_of([(0, "ROOT", {}), (1, "k", own)]), ranks=ranks)

    before, after = merged(100_000, 500_000, 900_000), merged(110_000, 511_000, 909_000)
    (paired,) = Comparison(before, after).kernels
    assert (paired.change.verdict, paired.change.basis) == (SLOWER, RANKS)
    (apart,) = Comparison(before, replace(after, ranks=(Rank(4), Rank(5), Rank(6)))).kernels
    assert apart.change.verdict == NOT_ENOUGH


def test_launches_that_changed_are_named() -> None:
    def launched(**attributes: int) -> TreeProfile:
        profile = recorded(k=(100, 100))
        assert isinstance(profile, TreeProfile)
        details = {2: detail_of((100, 100), attributes)}
        return replace(profile, tree=replace(profile.tree, details=details))

    before, after = launched(registers=64, occupancy=1), launched(registers=128, occupancy=1)
    assert Comparison(before, after).kernels[0].launches == {"registers": (64, 128)}
    assert Comparison(launched(registers=64), after).kernels[0].launches == {"registers": (64, 128)}


def test_scopes_are_matched_by_path() -> None:
    comparison = Comparison(recorded(k=(100, 100)), recorded(k=(900, 900)))
    (step,) = comparison.scopes()
    assert comparison.total().change_ns == 1600
    assert comparison.union.tree.frames[step.row].name == "step"
    assert (step.before_row, step.after_row, step.change.verdict) == (1, 1, SLOWER)


def test_modules_are_matched_by_path_and_operators_inside_are_not_listed() -> None:
    def trained(time_ns: int) -> TreeProfile:
        rows: list[tuple[int, str, str, Metrics]] = [
            (0, "r", "ROOT", {}),
            (1, "m", "net", {}),
            (2, "o", "aten::mul", {"calls": 1}),
            (3, "k", "k", {"time (ns)": time_ns, "count": 1}),
        ]
        return profile_of([]).with_tree(tree_of_kinds(rows))

    comparison = Comparison(trained(100), trained(900))
    (module,) = comparison.scopes()
    assert comparison.union.tree.frames[module.row].name == "net"
    assert module.change.change_ns == 800
