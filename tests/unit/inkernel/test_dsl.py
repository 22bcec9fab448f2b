import pytest

from proton.errors import SemanticError, UsageError
from proton.inkernel import dsl
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.modes.mode_table import Default


def test_both_semantics_are_enabled_at_first() -> None:
    assert choice._without == set()


def test_a_semantic_can_be_disabled_and_enabled_again() -> None:
    dsl.disable_semantic("triton")
    dsl.disable_semantic("triton")
    assert choice._without == {"triton"}
    dsl.enable_semantic("triton")
    assert choice._without == set()


@pytest.mark.parametrize("change", [dsl.enable_semantic, dsl.disable_semantic])
def test_an_unknown_semantic_is_a_type_error_that_lists_the_choices(change: object) -> None:
    assert callable(change)
    with pytest.raises(TypeError, match="unknown semantic 'cuda'; choose one of 'gluon', 'triton'"):
        change("cuda")


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_region_without_a_name_is_refused(name: object) -> None:
    for use in (dsl.enter_scope, dsl.exit_scope, dsl.scope, dsl.mark, dsl.allocate_event):
        with pytest.raises(UsageError, match="a region needs a name"):
            use(name)


def test_only_events_can_be_started_and_ended() -> None:
    event = dsl.allocate_event("copy")
    dsl.start_event(event)
    dsl.end_event(event)
    with pytest.raises(SemanticError, match="'copy' is no event"):
        dsl.start_event("copy")
    with pytest.raises(TypeError, match="pass what allocate_event returned"):
        dsl.end_event(None)


def test_a_scope_is_a_context_manager() -> None:
    with dsl.scope("load") as region:
        assert region.name == "load"


def test_either_side_of_a_region_can_be_recorded_by_builtins_of_ones_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    for side in ("enter_scope", "exit_scope"):
        monkeypatch.setattr(dsl, side, lambda name, _semantic, side=side: seen.append((side, name)))
    dsl.record_side(True, "load", None)
    dsl.record_side(False, "load", None)
    assert seen == [("enter_scope", "load"), ("exit_scope", "load")]


def test_a_mark_and_a_value_do_nothing_outside_a_compiled_kernel() -> None:
    choice.set_session(Default())
    try:
        dsl.mark("here")
        dsl.value("n", 3)
        dsl.exit_scope("never begun")
    finally:
        choice.set_session(None)
