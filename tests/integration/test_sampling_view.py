"""Samples from the fake driver through a session and its file into the viewer."""

from __future__ import annotations

from pathlib import Path

import pytest

import proton
from proton._native import Cubin
from proton.cli.viewer import main
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from proton.model.sampling import FOUND, NO_CUBIN, NO_LINE
from proton.render.text.sample_texts import SPLIT_NOTE
from tests.native.fake_cuda.driver import FakeDriver

FOLDER = Path(__file__).resolve().parents[1] / "data" / "cubins"
CUBIN = (FOLDER / "triton36_softmax_sm90.cubin").read_bytes()


@pytest.fixture
def recorded(fake_driver: FakeDriver, tmp_cwd: Path) -> Path:
    """One kernel from two contexts, and one whose cubin nobody has."""
    for pc, reason in ((0x10, "selected"), (0x300, "long_scoreboard"), (0x400, "barrier")):
        fake_driver.sample("softmax", pc, reason, samples=30, latency=10)
    fake_driver.sample("gemm", 0x40, "wait", samples=5)
    session = proton.start("run", backend="cupti", mode="pcsampling:interval=4096")
    module = fake_driver.load_module(CUBIN)
    function = fake_driver.module_function(module, "softmax", 1000)
    with proton.scope("forward"):
        fake_driver.launch_function(function, 3)
    with proton.scope("backward"):
        fake_driver.launch_function(function, 1)
        fake_driver.launch("gemm", 100)
    proton.finalize(session)
    return tmp_cwd / "run.hatchet"


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_what_a_session_writes_reads_back_whole(recorded: Path) -> None:
    profile = open_profile(recorded)
    sampling = profile.sampling
    assert sampling is not None
    assert isinstance(profile, TreeProfile)
    assert sampling.samples == profile.tree.root.total("num_samples") == 4 * 90 + 5
    assert (sampling.period_cycles, sampling.is_split) == (4096, True)
    parts = [profile.tree.root.child(scope).child("softmax") for scope in ("forward", "backward")]
    assert [part.total("num_samples") for part in parts] == [270, 90]
    softmax, gemm = sampling.kernels
    assert (softmax.contexts, gemm.contexts) == (2, 1)
    assert (softmax.symbol, softmax.arch, softmax.lines) == ("softmax", 90, FOUND)
    sampled = [one for one in softmax.instructions if one.samples]
    assert [one.samples for one in sampled] == [120, 120, 120]
    assert all(one.line != NO_LINE for one in sampled)
    code = Cubin(CUBIN).code("softmax")
    assert softmax.instruction_count == len(code) // 16
    assert b"".join(one.code for one in softmax.instructions) == code, "all of it, by offset"
    assert gemm.instruction_count == 0
    assert (gemm.symbol, gemm.lines, gemm.instructions[0].code) == ("gemm", NO_CUBIN, b"")


def test_lines_and_what_is_not_known_are_shown(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, "--full", str(recorded))
    assert "365 samples, one every 4 096 cycles of a multiprocessor" in text
    assert SPLIT_NOTE in text
    assert "/src/kernels.py:22" in text
    assert "barrier 100 %" in text
    assert "gemm (no cubin)  wait 100 %" in text
    assert "/src/kernels.py: no such file; line numbers without text" in text


def test_sources_and_instructions_are_shown(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "/src/kernels.py   240 samples in softmax 240" in shown(
        capsys, "--source", "kernels.py", str(recorded)
    )
    text = shown(capsys, "--sass", "softmax", str(recorded))
    rows = [line.split() for line in text.splitlines() if line[:6].strip() in ("10", "300", "400")]
    assert [row[1] for row in rows] == ["120", "120", "120"]
    assert "S2R" in rows[0]


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_a_trace_shows_samples_by_kernel_and_line(
    output_format: str,
    fake_driver: FakeDriver,
    tmp_cwd: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_driver.sample("softmax", 0x400, "barrier", samples=30, latency=10)
    session = proton.start("run", backend="cupti", mode="pcsampling", data="trace")
    module = fake_driver.load_module(CUBIN)
    fake_driver.launch_function(fake_driver.module_function(module, "softmax"), 2)
    proton.finalize(session, output_format)
    sampling = open_profile(tmp_cwd / "run").sampling
    assert sampling is not None
    assert [one.samples for one in sampling.kernels[0].line_samples] == [60]
    text = shown(capsys, "run")
    assert "<sampled>" in text
    assert "kernels.py:22" in text
