"""Schedules: which steps are recorded, dropped, or left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning, UsageError
from proton.files.detect import open_profile
from proton.runtime.schedule import Recording, Schedule, schedule
from tests.support.profiles import tree_in

OFF, DROPPED, ON = Recording.OFF, Recording.DISCARDED, Recording.ON


def test_a_cycle_waits_warms_up_and_records() -> None:
    plan = schedule(wait=2, warmup=1, active=2, repeat=2)
    cycle = [OFF, OFF, DROPPED, ON, ON]
    assert [plan.at(step) for step in range(12)] == [*cycle, *cycle, OFF, OFF]
    assert [plan.cycle_of(step) for step in (0, 4, 5, 10)] == [0, 0, 1, 2]
    assert schedule(active=1).at(10**9) is ON


def test_text_is_a_schedule_too() -> None:
    plan = Schedule.parse("wait=2, active=3")
    assert plan == Schedule(wait=2, active=3)
    assert Schedule.parse(str(plan)) == plan


@pytest.mark.parametrize("text", ["", "wait", "wait=-1", "wait=x", "later=1,active=1", "active=0"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="number of steps"):
        Schedule.parse(text)


def test_a_name_that_is_near_one_of_a_schedule_is_suggested() -> None:
    with pytest.raises(UsageError, match="did you mean 'active'"):
        Schedule.parse("wait=1,actve=2")


def test_text_and_call_have_the_same_defaults() -> None:
    assert schedule(wait=1) == Schedule.parse("wait=1")


@pytest.mark.parametrize("numbers", [{"active": 0}, {"active": 1, "wait": -1}, {"active": 1.5}])
def test_numbers_without_meaning_are_refused(numbers: Any) -> None:
    with pytest.raises(UsageError, match="of a schedule must be a number of steps from"):
        schedule(**numbers)


def run_steps(count: int, plan: Any, **options: Any) -> None:
    session = proton.start("run", backend="interpreter", schedule=plan, **options)
    for step in range(count):
        with proton.scope(f"step_{step}"):
            pass
        proton.step(str(step))
    proton.finalize(session)


def recorded() -> tuple[list[str], list[str]]:
    profile = open_profile(Path("run.hatchet"))
    scopes = [frame.name for frame in tree_in(profile).frames[1:]]
    return scopes, [name for series in profile.steps for name in series.names]


@pytest.mark.usefixtures("tmp_cwd")
def test_a_session_has_the_steps_that_its_schedule_keeps() -> None:
    run_steps(10, proton.schedule(wait=2, warmup=1, active=3, repeat=1))
    assert recorded() == (["step_3", "step_4", "step_5"], ["3", "4", "5"])
    assert list(Path().glob("run.*")) == [Path("run.hatchet")]


@pytest.mark.usefixtures("tmp_cwd")
@pytest.mark.parametrize("wait", [0, 1])
def test_every_cycle_is_a_part(wait: int) -> None:
    run_steps(8, f"wait={wait},warmup=1,active={3 - wait}")
    scopes, steps = recorded()
    kept = ["1", "2", "3", "5", "6", "7"] if wait == 0 else ["2", "3", "6", "7"]
    assert steps == kept
    assert scopes == [f"step_{number}" for number in kept]
    assert Path("run.part_1.hatchet").exists()


@pytest.mark.usefixtures("tmp_cwd")
def test_a_program_that_ends_in_its_warm_up_has_nothing_of_it() -> None:
    with pytest.warns(ProtonWarning, match="captured nothing"):
        run_steps(1, proton.schedule(warmup=5, active=1))
    assert recorded() == ([], [])


@pytest.mark.usefixtures("tmp_cwd")
def test_a_schedule_cannot_be_another_one_later() -> None:
    session = proton.start("run", backend="interpreter", schedule="active=1")
    proton.step()
    with pytest.raises(UsageError, match="open already with the schedule"):
        proton.start("run", backend="interpreter", schedule="active=2")
    assert proton.start("run", backend="interpreter", schedule="active=1") == session
    with pytest.raises(UsageError, match=r"must be what proton\.schedule returns"):
        proton.start("other", backend="interpreter", schedule=3)  # type: ignore[arg-type]
    proton.finalize(session)


@pytest.mark.usefixtures("tmp_cwd")
def test_a_profiled_function_takes_a_schedule() -> None:
    @proton.profile(name="run", backend="interpreter", schedule=proton.schedule(wait=1, active=1))
    def train() -> None:
        for step in range(2):
            with proton.scope(f"step_{step}"):
                pass
            proton.step(str(step))

    train()
    proton.finalize()
    assert recorded() == (["step_1"], ["1"])


@pytest.mark.usefixtures("tmp_cwd")
@pytest.mark.parametrize("plan", ["active=2", "wait=1,active=1", "warmup=1,active=1"])
def test_a_cycle_without_anything_in_it_makes_no_file(plan: str) -> None:
    run_steps(2, plan)
    assert [path.name for path in Path().glob("run*")] == ["run.hatchet"]
    run_steps(4, plan)
    parts = sorted(path.name for path in Path().glob("run.part*"))
    assert parts == ["run.part_0.hatchet", "run.part_1.hatchet"]
    assert open_profile(parts[0]).warnings == ()


@pytest.mark.usefixtures("tmp_cwd")
def test_a_warm_up_that_is_cut_off_makes_no_file() -> None:
    run_steps(3, "warmup=2,active=1")
    run_steps(4, "warmup=2,active=1")
    assert [path.name for path in Path().glob("run*")] == ["run.hatchet"]


@pytest.mark.usefixtures("tmp_cwd")
def test_steps_without_a_name_keep_their_number_in_the_program() -> None:
    session = proton.start("run", backend="interpreter", schedule="wait=2,warmup=1,active=3")
    for _ in range(6):
        proton.step()
    proton.finalize(session)
    assert recorded()[1] == ["3", "4", "5"]


@pytest.mark.usefixtures("tmp_cwd")
def test_a_program_that_ends_before_its_first_kept_step_is_told_so() -> None:
    said = r"keeps steps from number 20 on, and proton\.step\(\) was called 6 times"
    with pytest.warns(ProtonWarning, match=said):
        run_steps(6, "wait=20,active=2")
