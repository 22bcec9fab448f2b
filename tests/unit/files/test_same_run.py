"""Tests of telling ranks of one run from strangers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.errors import UsageError
from proton.files.same_run import RunCheck
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import profile_of

HOUR_NS = 3_600_000_000_000


def tree(name: str, program: str = "", start_ns: int | None = None) -> Profile:
    profile = profile_of([(0, "ROOT", {}), (1, name, {"time (ns)": 5})])
    end_ns = None if start_ns is None else start_ns + HOUR_NS
    command = ("/usr/bin/python", "-u", *program.split(), "--rank=1") if program else ()
    header = replace(profile.header, command=command, start_time_ns=start_ns, end_time_ns=end_ns)
    return replace(profile, header=header)


def trace(name: str) -> Profile:
    lane = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)
    return TraceProfile("t", trace=Trace([lane], [Span(name, SpanKind.SCOPE, 0, 1.0, 2.0)]))


def notes(*profiles: Profile, allows_strangers: bool = False) -> list[str]:
    check = RunCheck(allows_strangers=allows_strangers)
    for at, profile in enumerate(profiles):
        check.add(profile, f"rank_{at}")
    return check.notes()


def test_ranks_of_one_run_have_nothing_to_say() -> None:
    assert notes(tree("k", "a.py", 0), tree("k", "a.py", HOUR_NS // 2), tree("k")) == []
    assert notes(trace("s"), trace("s")) == []


def test_another_program_with_other_contexts_is_refused_unless_it_is_allowed() -> None:
    strangers = tree("k", "/home/me/a.py"), tree("other", "/bin/proton -n x b.py")
    with pytest.raises(UsageError, match=r"^rank_1: of another program \('b.py', but rank_0 is of"):
        notes(*strangers)
    said = ["rank_1: of another program: 'b.py', but rank_0 is of 'a.py'"]
    assert notes(*strangers, allows_strangers=True) == said
    assert notes(tree("k", "a.py"), tree("k", "b.py")) == said


@pytest.mark.parametrize("program", ["-m pkg.train", "/usr/bin/proton --module pkg.train", "train"])
def test_modules_and_programs_have_names(program: str) -> None:
    said = notes(tree("k", "a.py"), tree("k", program))
    assert said == [f"rank_1: of another program: {program.split()[-1]!r}, but rank_0 is of 'a.py'"]


@pytest.mark.parametrize("make", [tree, trace])
def test_no_context_in_common_is_said(make: type[Profile]) -> None:
    assert notes(make("k"), make("other")) == [
        "rank_1: has no context in common with the other ranks"
    ]


def test_runs_one_after_the_other_are_said() -> None:
    said = notes(tree("k", start_ns=0), tree("k", start_ns=2 * HOUR_NS))
    assert said == ["rank_1: began after rank_0 had ended: is it of the same run?"]


def test_processes_that_need_not_run_together_may_follow_each_other() -> None:
    check = RunCheck(ran_together=False)
    check.add(tree("k", start_ns=0), "a")
    check.add(tree("k", start_ns=2 * HOUR_NS), "b")
    assert check.notes() == []


def test_many_strangers_are_counted() -> None:
    said = notes(*(tree(f"k{at}") for at in range(12)))
    assert (len(said), said[-1]) == (9, "and 3 more files that look like another run")
