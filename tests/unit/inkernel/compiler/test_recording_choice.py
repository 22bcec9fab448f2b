"""Which mode is in force: for a kernel, for all, in a thread; and what salts it gives."""

from __future__ import annotations

import threading

import pytest

from proton.inkernel.compiler.recording_choice import ChosenMode, choice
from proton.inkernel.modes.mode_table import MMA, Default, Loops, Ops


class Kernel:
    pass


@pytest.fixture(autouse=True)
def _off() -> object:
    yield
    choice.set_session(None)
    choice.take_back()


def _mode_of(kernel: object) -> object:
    with choice.launching(kernel):
        found = choice.current()
    return found and found.mode


def test_nothing_is_in_force_while_recording_is_off() -> None:
    choice.choose_everywhere(Ops())
    assert choice.current() is None
    assert choice.salt() == ""
    assert not choice.records_user_scopes("triton")


def test_the_nearest_choice_counts() -> None:
    one, other = Kernel(), Kernel()
    choice.set_session(Default())
    assert _mode_of(one) == Default()
    choice.choose_everywhere(Ops())
    choice.choose(one, MMA())
    assert (_mode_of(one), _mode_of(other), _mode_of(None)) == (MMA(), Ops(), Ops())
    assert choice.take_back(one)
    assert not choice.take_back(one)
    assert _mode_of(one) == Ops()
    assert choice.take_back()
    assert not choice.take_back()
    assert _mode_of(other) == Default()


def test_a_kernel_is_launched_by_its_own_thread_only() -> None:
    kernel = Kernel()
    choice.set_session(Default())
    choice.choose(kernel, MMA())
    seen: list[ChosenMode | None] = []
    thread = threading.Thread(target=lambda: seen.append(choice.current()))
    with choice.launching(kernel):
        thread.start()
        thread.join()
        assert choice.is_launching(kernel)
    assert not choice.is_launching(kernel)
    assert seen == [ChosenMode(Default())]


def test_what_is_compiled_plainly_has_no_salt() -> None:
    choice.set_session(Default())
    assert choice.salt()
    with choice.plainly():
        assert choice.salt() == ""
        with choice.plainly():
            pass
        assert choice.current() is None
    assert choice.salt()


def test_salts_differ_by_mode_and_thinning_and_stay_the_same_otherwise() -> None:
    choices = [
        ChosenMode(Default()),
        ChosenMode(Loops()),
        ChosenMode(Loops(cap=3)),
        ChosenMode(Loops(), 1),
    ]
    assert len({each.salt for each in choices}) == 4
    assert len({each.digest for each in choices}) == 4
    assert ChosenMode(Loops()).salt == ChosenMode(Loops()).salt


def test_a_launch_goes_on_as_it_began_whatever_sessions_do() -> None:
    for mode, other in ((Loops(), None), (None, Loops())):
        choice.set_session(mode)
        with choice.launching(None):
            choice.decide()
            begun = choice.salt()
            choice.set_session(other)
            assert choice.salt() == begun
            with choice.plainly():
                assert choice.current() is None
            with choice.launching(None):  # inside this one
                assert (choice.current() is None) == (other is None)
            with choice.launching_plainly():
                assert choice.current() is None
            assert choice.salt() == begun
        assert (choice.current() is None) == (other is None)
        choice.set_session(None)


def test_a_thinned_kernel_has_another_salt_until_recording_ends() -> None:
    kernel = Kernel()
    choice.set_session(Loops())
    with choice.launching(kernel):
        before = choice.salt()
        choice.thin(kernel, 2)
        assert choice.current() == ChosenMode(Loops(), 2)
        choice.pause(True)
        assert choice.current() is None
        choice.pause(False)
        assert choice.current() == ChosenMode(Loops(), 2)
        choice.set_session(None)
        choice.set_session(Loops())
        assert choice.salt() == before


@pytest.mark.parametrize(
    ("mode", "asked"), [(Default(), True), (Ops(), False), (Loops(), False)], ids=str
)
def test_user_scopes_are_recorded_in_modes_that_have_them(mode: Default, asked: bool) -> None:
    choice.set_session(mode)
    assert choice.records_user_scopes("triton") is asked
