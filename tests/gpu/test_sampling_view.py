"""What `proton-viewer` makes of samples from a real GPU; a failure shows what it printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.cli.viewer import main
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from proton.render.nvdisasm import find_nvdisasm

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(180)]

BLOCK = 1024
Show = Callable[..., str]


@pytest.fixture
def kernels(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    sys.modules.pop("sampled_kernels", None)
    import sampled_kernels  # type: ignore[import-not-found, unused-ignore]

    return sampled_kernels


@pytest.fixture
def recorded(torch: Any, kernels: Any, tmp_path: Path) -> Path:
    """A profile of two kernels and a library's, sampled and timed."""
    large = torch.ones(1 << 26, device="cuda")
    out = torch.zeros(1 << 22, device="cuda")
    programs = 2048
    steps = large.numel() // (programs * BLOCK)
    session = proton.start(
        str(tmp_path / "run"), backend="cupti", mode="pcsampling:interval=4096", hook="triton"
    )
    with proton.scope("load"):
        for _ in range(40):
            kernels.gather[(programs,)](large, out, steps, programs * BLOCK, BLOCK=BLOCK)
    with proton.scope("compute"):
        for _ in range(10):
            kernels.call_helper[(2048,)](out, 20_000, BLOCK=BLOCK)
        half = large[: 1 << 24].reshape(4096, 4096).half()
        for _ in range(20):
            half @ half
    torch.cuda.synchronize()
    proton.finalize(session)
    return tmp_path / "run.hatchet"


@pytest.fixture
def show(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Show:
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*words: str) -> str:
        capsys.readouterr()
        code = main([*words, str(recorded)])
        streams = capsys.readouterr()
        assert code == 0, streams.err
        return streams.out

    return run


def test_the_view_shows_the_line_that_waits_with_its_text_and_reason(
    show: Show, kernels: Any
) -> None:
    text = show()
    place = f"sampled_kernels.py:{kernels.line_of('waits')} "
    (line, *_) = [line for line in text.splitlines() if place in line] or [""]
    assert "total += tl.load(x_ptr + offsets + step * stride)" in line, text
    assert "long_scoreboard" in line, text
    assert "one every 4 096 cycles" in text, text
    assert "Helps: Load earlier" in " ".join(text.split()), text


def test_samples_of_contexts_add_up_to_those_of_the_sampling_object(recorded: Path) -> None:
    profile = open_profile(recorded)
    assert isinstance(profile, TreeProfile)
    assert profile.sampling is not None
    assert profile.tree.root.total("num_samples") == profile.sampling.samples
    for kernel in profile.sampling.kernels:
        listed = sum(one.samples for one in kernel.instructions)
        assert listed + kernel.other_samples == kernel.samples, kernel.symbol
        assert all(sum(one.reasons.values()) == one.samples for one in kernel.instructions)


def test_the_source_is_annotated_and_known_to_be_unchanged(show: Show, kernels: Any) -> None:
    text = show("--source", "sampled_kernels.py")
    assert "changed since" not in text, text
    assert "no such file" not in text, text
    number = kernels.line_of("polishes")
    (line,) = [line for line in text.splitlines() if line.endswith("# polishes")]
    assert line.split()[0].isdigit(), text
    assert f" {number}  " in line, text


def test_the_hottest_instructions_have_text_and_the_line_that_waits(
    show: Show, kernels: Any
) -> None:
    text = show("--sass", "gather")
    place = f"sampled_kernels.py:{kernels.line_of('waits')} "
    assert place in text, text
    if find_nvdisasm() is None:
        assert "needs nvdisasm" in text, text
    else:
        assert " R" in text, text  # operands
        assert "nvdisasm" not in text, text


def test_a_kernel_of_a_library_says_why_it_has_no_lines(show: Show) -> None:
    text = show()
    assert "(no line table)" in text or "(no cubin)" in text, text
