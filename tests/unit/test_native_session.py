"""Sessions of the native core: what is recorded where, through the bytes that are written."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from proton import _native
from proton._native import Scope, Session, enter_scope, exit_scope
from proton.errors import DataKindError, PhaseNotFound, SessionNotFound, UsageError
from tests.support.native import MakeSession, launch, root_of, tree_of

# Trees


def test_an_entered_scope_is_in_the_tree(session: Session) -> None:
    with Scope("a"), Scope("b"):
        pass
    assert tree_of(session) == {"a": {}, "a/b": {}}


def test_children_stand_in_first_seen_order(session: Session) -> None:
    for name in ("z", "a", "m", "a"):
        with Scope(name):
            launch(session, "k" + name)
    assert list(tree_of(session)) == ["z", "a", "m", "z/kz", "a/ka", "m/km"]


def test_a_kernel_is_a_leaf_with_time_and_count(session: Session) -> None:
    with Scope("a"):
        launch(session, time_ns=10)
        launch(session, time_ns=5)
    assert tree_of(session)["a/kernel"] == {
        "time (ns)": 15,
        "count": 2,
        "device_id": "0",
        "device_type": "CPU",
    }


def test_names_of_kernels_are_those_of_all_phases_each_once(session: Session) -> None:
    assert session.kernel_names() == []
    launch(session, "a")
    session.advance_phase()
    launch(session, "b")
    launch(session, "a")
    assert session.kernel_names() == ["a", "b"]


def test_a_kernel_can_be_booked_later_where_it_was_launched(session: Session) -> None:
    session.uses_launch_metadata = True
    with Scope("a"):
        _native.enter_op("renamed", {"flops": 2.0})
        context = session.launch_context()
        _native.exit_op()
    session.deactivate()
    with Scope("b"):
        session.on_kernel("k", 100, 130, device_type="CUDA", device_id=1, context=context)
    assert tree_of(session)["a/renamed"] == {
        "time (ns)": 30,
        "count": 1,
        "device_id": "1",
        "device_type": "CUDA",
        "flops": 2.0,
    }


def test_the_root_has_zeros_for_what_kernels_measured(session: Session) -> None:
    launch(session)
    assert root_of(session)["metrics"] == {"count": 0, "time (ns)": 0}


def test_a_root_without_kernels_has_no_metrics(session: Session) -> None:
    with Scope("a"):
        pass
    assert root_of(session)["metrics"] == {}


def test_kernels_of_two_devices_are_kept_apart(session: Session) -> None:
    session.on_kernel("k", 0, 1, device_type="CPU", device_id=0)
    session.on_kernel("k", 0, 2, device_type="CPU", device_id=1)
    times = [child["metrics"]["time (ns)"] for child in root_of(session)["children"]]
    assert times == [1, 2]


def test_only_devices_that_were_used_are_in_the_device_map(session: Session) -> None:
    session.add_device("CPU", 0, {"arch": "interpreter", "num_sms": 1})
    session.add_device("CPU", 1, {"arch": "interpreter"})
    launch(session)
    devices = json.loads(session.serialize("hatchet", 0, {}))[1]
    assert devices == {"CPU": {"0": {"arch": "interpreter", "num_sms": 1}}}


def test_a_kernel_that_ends_before_it_starts_is_counted_with_no_time(session: Session) -> None:
    launch(session, time_ns=-5)
    assert tree_of(session)["kernel"]["time (ns)"] == 0
    assert session.losses == {"bad_time": 1}


def test_kernel_metrics_add_up_and_clashes_are_counted(session: Session) -> None:
    launch(session, flops=2, x=1)
    launch(session, flops=3.0, x=1.5)
    metrics = tree_of(session)["kernel"]
    assert (metrics["flops"], metrics["x"]) == (5.0, 1)
    assert session.losses == {"metric_conflict": 1}


def test_event_count_and_emptiness(session: Session) -> None:
    assert session.is_empty
    launch(session)
    assert (session.event_count, session.is_empty) == (1, False)


def test_the_node_kinds_are_written(session: Session) -> None:
    with Scope("a"):
        _native.enter_state("s")
        launch(session)
        _native.exit_state()
    assert root_of(session)["proton"]["kinds"] == "rstk"


def test_a_tree_10000_levels_deep_is_written(session: Session) -> None:
    scopes = [Scope("a") for _ in range(10_000)]
    for scope in scopes:
        scope.__enter__()
    launch(session)
    for scope in reversed(scopes):
        scope.__exit__()
    assert session.serialize("hatchet", 0, {}).count(b'"a"') == 10_000


# States and launch metadata


def test_the_innermost_state_labels_the_work(session: Session) -> None:
    _native.enter_state("outer")
    with Scope("a", {"x": 1}):
        _native.enter_state("inner")
        launch(session, "k1")
        _native.exit_state()
        launch(session, "k2")
    launch(session, "k3")
    _native.exit_state()
    launch(session, "k4")
    kernels = [path for path in tree_of(session) if "k" in path]
    assert kernels == ["k4", "outer/k3", "a/inner/k1", "a/outer/k2"]


def test_launch_metadata_names_the_kernel_where_it_was_asked_for(
    make_session: MakeSession,
) -> None:
    asked, other = make_session(), make_session()
    asked.uses_launch_metadata = True
    _native.enter_op("renamed", {"flops": 10})
    for session in (asked, other):
        launch(session, bytes=4)
    _native.exit_op()
    launch(asked)
    assert list(tree_of(asked)) == ["renamed", "kernel"]
    assert tree_of(asked)["renamed"]["flops"] == 10.0
    assert tree_of(asked)["renamed"]["bytes"] == 4
    assert "flops" not in tree_of(other)["kernel"]


def test_launch_metadata_may_give_no_name(session: Session) -> None:
    session.uses_launch_metadata = True
    _native.enter_op(None, {"flops": 10})
    launch(session)
    _native.exit_op()
    assert tree_of(session)["kernel"]["flops"] == 10.0


# Names


def test_lone_surrogates_are_replaced_and_counted_once_a_name(session: Session) -> None:
    for _ in range(2):
        with Scope("a\ud800b"):
            pass
    assert list(tree_of(session)) == ["a\ufffdb"]
    assert session.losses == {"invalid_text": 1}


def test_equal_names_from_different_strings_are_one_node(session: Session) -> None:
    for n in (1, 1):
        with Scope(f"layer {n}"):
            pass
    assert list(tree_of(session)) == ["layer 1"]


def test_names_outside_ascii_and_with_nul_are_kept(session: Session) -> None:
    with Scope("größe\0😀"):
        pass
    assert list(tree_of(session)) == ["größe\0😀"]


# Activation and phases


def test_a_session_activated_inside_scopes_knows_the_path(make_session: MakeSession) -> None:
    session = make_session(active=False)
    with Scope("a"), Scope("b", {"x": 1}):
        session.activate()
        launch(session)
    assert list(tree_of(session)) == ["a", "a/b", "a/b/kernel"]
    assert tree_of(session)["a/b"] == {"x": 1}


def test_a_scope_left_while_inactive_keeps_the_stack_right(session: Session) -> None:
    with Scope("a"):
        session.deactivate()
    session.activate()
    with Scope("b"):
        launch(session)
    assert list(tree_of(session)) == ["a", "b", "b/kernel"]
    assert session.depth() == 0


def test_events_while_inactive_are_not_recorded(session: Session) -> None:
    session.deactivate()
    launch(session)
    with Scope("a", {"x": 1}):
        pass
    assert session.is_empty


def test_a_scope_open_across_phases_books_in_the_phase_it_ends_in(session: Session) -> None:
    with Scope("a", {"x": 1}, timed=False):
        assert session.advance_phase() == 1
        launch(session)
    assert tree_of(session, 0) == {"a": {}}
    assert tree_of(session, 1)["a"] == {"x": 1}
    assert "a/kernel" in tree_of(session, 1)


def test_cleared_phases_are_gone(session: Session) -> None:
    with Scope("a"):
        pass
    session.advance_phase()
    session.clear_phase(0)
    assert not session.has_phase(0)
    assert session.has_phase(1)
    with pytest.raises(PhaseNotFound, match="session 0 has no data for phase 0"):
        session.serialize("hatchet", 0, {})
    with pytest.raises(PhaseNotFound):
        session.clear_phase(0)


def test_clearing_the_current_phase_empties_it(session: Session) -> None:
    with Scope("a", {"x": 1}):
        pass
    session.clear_phase(0)
    assert tree_of(session) == {}
    with Scope("a", {"x": 1}):
        pass
    assert tree_of(session) == {"a": {"x": 1}}


def test_a_closed_session_answers_nothing(session: Session) -> None:
    session.close()
    for call in (session.activate, session.depth, lambda: session.losses):
        with pytest.raises(SessionNotFound, match="session 0 is not open"):
            call()


def test_scopes_survive_the_last_session_and_are_known_to_the_next(
    make_session: MakeSession,
) -> None:
    first = make_session()
    with Scope("a"):
        with Scope("b"):
            first.close()
        second = make_session()
        with Scope("c"):
            launch(second)
    assert list(tree_of(second)) == ["a", "a/c", "a/c/kernel"]


def test_depth_counts_open_scopes(session: Session) -> None:
    with Scope("a"), Scope("b"):
        assert session.depth() == 2


# Writing


def test_the_other_kind_of_data_is_refused(make_session: MakeSession) -> None:
    with pytest.raises(DataKindError, match="session 0 records a tree, not a trace"):
        make_session().serialize("chrome_trace", 0, {})
    with pytest.raises(DataKindError, match="session 1 records a trace, not a tree"):
        make_session(data="trace").serialize("hatchet", 0, {})


def test_unknown_words_are_refused_with_the_choices(session: Session) -> None:
    with pytest.raises(UsageError, match="unknown output format 'xml'; choose one of 'chrome"):
        session.serialize("xml", 0, {})
    with pytest.raises(UsageError, match="unknown context 'x'; choose one of 'blame', 'ops', "):
        Session(1, context="x", data="tree")
    with pytest.raises(UsageError, match="unknown data 'x'; choose one of 'trace', 'tree'"):
        Session(1, context="shadow", data="x")


def test_write_puts_the_same_bytes_into_a_file(session: Session, tmp_path: Path) -> None:
    with Scope("a"):
        pass
    path = tmp_path / "run.hatchet"
    session.write(str(path), "hatchet", 0, {"session": "run"})
    assert path.read_bytes() == session.serialize("hatchet", 0, {"session": "run"})
    assert os.listdir(tmp_path) == ["run.hatchet"]


def test_an_unwritable_path_is_an_os_error_that_names_it(session: Session, tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "run.hatchet")
    with pytest.raises(FileNotFoundError) as caught:
        session.write(path, "hatchet", 0, {})
    assert caught.value.filename == path


def test_a_refused_format_leaves_no_file(session: Session, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        session.write(str(tmp_path / "run"), "xml", 0, {})
    assert os.listdir(tmp_path) == []


def test_the_header_is_carried_and_completed(session: Session) -> None:
    session.add_autotune({"kernel": "k", "winner": None, "configs": [{"time_ns": 1.5}]})
    session.count_loss("dropped_event", 3)
    session.warn("look")
    session.warn("look")
    header = {"session": "s", "pid": 1, "command": ["a", "b"], "triton": None, "ok": True}
    written = json.loads(session.serialize("hatchet", 0, header))[0]["proton"]
    assert {key: written[key] for key in header} == header
    assert written["losses"] == session.losses == {"dropped_event": 3}
    assert written["warnings"] == session.warnings == ["look (2 times)"]
    assert written["autotune"] == [{"kernel": "k", "winner": None, "configs": [{"time_ns": 1.5}]}]


def test_a_header_value_that_is_not_plain_is_refused(session: Session) -> None:
    with pytest.raises(UsageError, match="is not plain"):
        session.serialize("hatchet", 0, {"x": object()})


# Threads and fork


def test_threads_write_to_one_session_without_losing_anything(session: Session) -> None:
    def work() -> None:
        for _ in range(200):
            with Scope("a", {"x": 1}):
                launch(session)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tree_of(session)["a"] == {"x": 800}
    assert tree_of(session)["a/kernel"]["count"] == 800


def test_a_forked_child_has_no_session_and_no_stack(session: Session) -> None:
    read_end, write_end = os.pipe()
    enter_scope("parent")
    pid = os.fork()
    if pid == 0:
        facts: list[object] = [_native.context_path(), exit_scope("parent")]
        try:
            session.activate()
        except SessionNotFound:
            facts.append("closed")
        with Scope("child"):
            facts.append(_native.context_path())
        os.write(write_end, json.dumps(facts).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    exit_scope("parent")
    assert json.loads(os.read(read_end, 1000)) == [[], None, "closed", ["child"]]
    os.close(read_end)
    os.close(write_end)
    assert session.is_active


def test_memory_of_a_tree_session_does_not_grow_with_events(session: Session) -> None:
    def record() -> None:
        for _ in range(20_000):
            with Scope("a", {"x": 1.0}):
                pass

    def resident_pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    record()
    before = resident_pages()
    record()
    assert resident_pages() - before < 50


def test_numbers_beyond_a_double_are_kept_as_text(make_session: MakeSession) -> None:
    session = make_session()
    session.add_autotune({"kernel": "k", "key": [10**400]})
    written = json.loads(session.serialize("hatchet", 0, {}))[0]["proton"]
    assert written["autotune"][0]["key"] == [str(10**400)]
