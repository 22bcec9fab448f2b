"""Phases, and looking into an open session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack
import pytest

import proton
from proton.errors import DataKindError, PhaseNotFound, ProtonWarning, SessionNotFound, UsageError
from proton.flags import flags

pytestmark = pytest.mark.usefixtures("gpu")


def test_the_data_of_an_open_session_is_a_parsed_file(
    gpu: Any, session: int, profile_of: Any
) -> None:
    gpu.launch("k", 5)
    profile = profile_of(proton.data.get(session))
    assert profile.metrics("k")["time (ns)"] == 5
    assert profile.devices == {"FAKE": {"0": {"arch": "fake", "num_sms": 1}}}


def test_msgpack_holds_the_same(gpu: Any, session: int) -> None:
    gpu.launch("k", 5)
    packed = proton.data.get_msgpack(session)
    assert packed is not None
    plain, parsed = proton.data.get(session), msgpack.loads(packed, strict_map_key=False)
    assert plain is not None
    for root in (plain[0], parsed[0]):
        del root["proton"]["end_time_ns"]
    assert plain == parsed


def test_a_path_of_ten_thousand_scopes_can_be_looked_at(session: int) -> None:
    for n in range(10_000):
        proton.enter_scope(f"s{n}")
    content = proton.data.get(session)
    for _ in range(10_000):
        proton.exit_scope()
    assert content is not None
    node, depth = content[0], 0
    while node["children"]:
        node, depth = node["children"][0], depth + 1
    assert depth == 10_000


def test_work_belongs_to_the_phase_it_was_done_in(gpu: Any, session: int, profile_of: Any) -> None:
    gpu.launch("first")
    assert proton.data.advance_phase(session) == 1
    gpu.launch("second")
    assert profile_of(proton.data.get(session, 0)).paths() == ["first"]
    assert profile_of(proton.data.get(session, 1)).paths() == ["second"]


def test_a_phase_is_complete_once_it_was_left_and_flushed(gpu: Any, session: int) -> None:
    assert not proton.data.is_phase_complete(session, 0)
    proton.data.advance_phase(session)
    assert not proton.data.is_phase_complete(session, 0)
    proton.deactivate(session, flushing=True)
    assert proton.data.is_phase_complete(session, 0)
    assert not proton.data.is_phase_complete(session, 1)
    proton.activate(session)


def test_a_cleared_phase_has_no_data(gpu: Any, session: int) -> None:
    gpu.launch("first")
    proton.data.advance_phase(session)
    proton.data.clear(session, 0)
    with pytest.raises(PhaseNotFound, match="phase 0 of session 'run' has no data: the current"):
        proton.data.get(session, 0)


def test_clearing_up_to_a_phase_clears_the_earlier_ones(gpu: Any, session: int) -> None:
    for _ in range(3):
        gpu.launch("k")
        proton.data.advance_phase(session)
    proton.data.clear(session, 1, clear_up_to_phase=True)
    for phase in (0, 1):
        with pytest.raises(IndexError):
            proton.data.get(session, phase)
    assert proton.data.get(session, 2)


@pytest.mark.parametrize("phase", [1, -1, 99])
def test_a_phase_that_has_not_begun_is_an_index_error(session: int, phase: int) -> None:
    with pytest.raises(IndexError, match=f"phase {phase} of session 'run' has no data"):
        proton.data.get(session, phase)


def test_the_current_phase_can_be_cleared_and_goes_on(
    gpu: Any, session: int, profile_of: Any
) -> None:
    gpu.launch("first")
    proton.data.clear(session, 0)
    gpu.launch("second")
    assert profile_of(proton.data.get(session)).paths() == ["second"]


def test_every_phase_becomes_a_part_once_one_was_advanced(
    gpu: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    session = proton.start("run")
    for n in range(3):
        gpu.launch(f"k{n}")
        if n < 2:
            proton.data.advance_phase(session)
    proton.finalize()
    names = sorted(path.name for path in tmp_cwd.iterdir())
    assert names == [f"run.part_{n}.hatchet" for n in range(3)]
    assert profile_of("run.part_1.hatchet").paths() == ["k1"]
    assert profile_of("run.part_1.hatchet").header["phase"] == 1
    assert profile_of("run.part_2.hatchet").header["phases"] == [0, 1, 2]


def test_periodic_flushing_writes_phases_as_they_complete(
    gpu: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    session = proton.start("run", mode="periodic_flushing")
    gpu.launch("k0")
    proton.data.advance_phase(session)
    proton.deactivate(session, flushing=True)
    assert [path.name for path in tmp_cwd.iterdir()] == ["run.part_0.hatchet"]
    with pytest.raises(PhaseNotFound):
        proton.data.get(session, 0)
    proton.activate(session)
    gpu.launch("k1")
    proton.finalize()
    assert profile_of("run.part_0.hatchet").paths() == ["k0"]
    assert profile_of("run.part_1.hatchet").paths() == ["k1"]


def test_periodic_flushing_has_a_format_of_its_own(gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run", mode="periodic_flushing:format=hatchet_msgpack")
    gpu.launch("k0")
    proton.data.advance_phase(session)
    gpu.launch("k1")
    with pytest.raises(UsageError, match="'hatchet' is not 'hatchet_msgpack', in which session"):
        proton.finalize(session, output_format="hatchet")
    proton.finalize()
    names = sorted(path.name for path in tmp_cwd.iterdir())
    assert names == ["run.part_0.hatchet_msgpack", "run.part_1.hatchet_msgpack"]


def test_a_part_that_cannot_be_written_is_warned_of_and_kept_elsewhere(
    gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_cwd))
    session = proton.start("missing/run", mode="periodic_flushing")
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k0")
    proton.data.advance_phase(session)
    with pytest.warns(ProtonWarning, match=r"run\.part_0\.hatchet: cannot write the profile: No"):
        proton.deactivate(session, flushing=True)
    assert list(tmp_cwd.glob("run.part_0.pid_*.hatchet"))
    (tmp_cwd / "missing").mkdir()
    proton.activate(session)
    gpu.launch("k1")
    proton.finalize()


def test_a_trace_session_cannot_be_looked_into(gpu: Any) -> None:
    session = proton.start("run", data="trace")
    gpu.launch("k")
    with pytest.raises(DataKindError, match="records a trace; only tree sessions"):
        proton.data.get(session)
    with pytest.raises(RuntimeError):
        proton.data.get_msgpack(session)
    proton.finalize()


def test_no_session_means_no_data() -> None:
    assert proton.data.get(None) is None
    assert proton.data.get_msgpack(None) is None
    assert proton.data.advance_phase(None) is None
    assert proton.data.is_phase_complete(None) is False
    proton.data.clear(None)


@pytest.mark.parametrize(
    "function",
    [
        proton.data.get,
        proton.data.get_msgpack,
        proton.data.advance_phase,
        proton.data.is_phase_complete,
        proton.data.clear,
        proton.context.depth,
    ],
)
def test_an_unknown_id_is_an_index_error(function: Any, session: int) -> None:
    with pytest.raises(SessionNotFound, match="Session has not been initialized: 999"):
        function(999)


def test_the_depth_counts_the_open_scopes(session: int) -> None:
    assert proton.context.depth(session) == 0
    with proton.scope("a"), proton.scope("b"):
        assert proton.context.depth(session) == 2


def test_the_depth_of_a_python_context_counts_frames() -> None:
    session = proton.start("run", context="python")
    depth = proton.context.depth(session)
    deeper = (lambda: proton.context.depth(session))()
    assert depth is not None
    assert deeper == depth + 1
    with pytest.warns(ProtonWarning):
        proton.finalize()


def test_there_is_no_depth_when_off() -> None:
    assert not flags.profiling_on
    assert proton.context.depth() is None


def test_under_the_command_only_its_session_has_data(
    session: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flags, "command_line", True)
    with pytest.raises(ValueError, match="under the proton command the only session is"):
        proton.data.get(999)
    monkeypatch.setattr(flags, "command_line", False)


def test_phases_that_were_flushed_count_as_captured(fake_gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run", mode="periodic_flushing")
    with proton.scope("s"):
        pass
    proton.data.advance_phase(session)
    proton.deactivate(session, flushing=True)
    proton.finalize(session)  # no warning, though the last phase is empty
    assert (tmp_cwd / "run.part_0.hatchet").exists()
