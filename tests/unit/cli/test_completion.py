"""Tests of what makes shells complete our commands; each shell reads its own script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from proton.cli import main
from proton.cli.completion import completion_script
from proton.cli.parser import RUN, build_parser
from proton.cli.run import SHELLS
from proton.errors import UsageError


def completed(*words: str, folder: Path) -> list[str]:
    """What bash offers for the last of `words`."""
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    script = completion_script("bash")
    listed = " ".join(f"'{word}'" for word in words)
    script += f"\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _proton_complete"
    script += '\nprintf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
        cwd=folder,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_options_values_commands_and_files(tmp_path: Path) -> None:
    (tmp_path / "merge_them.py").touch()
    assert completed("proton", "--con", folder=tmp_path) == ["--context"]
    assert completed("proton", "-c", "", folder=tmp_path) == ["shadow", "python", "blame", "ops"]
    assert completed("proton", "me", folder=tmp_path) == ["merge", "merge_them.py"]
    assert completed("/usr/bin/proton", "merge", "--s", folder=tmp_path) == ["--skip-broken"]
    assert completed("proton", "convert", "x", "--me", folder=tmp_path) == ["--metric"]
    assert completed("proton", "ser", folder=tmp_path) == ["serve"]
    assert completed("proton", "serve", "x", "--", folder=tmp_path) == [
        "--port",
        "--no-open",
        "--no-token",
        "--help",
    ]
    assert completed("proton", "report", "--o", folder=tmp_path) == ["--output"]
    assert completed("proton-viewer", "--mark", folder=tmp_path) == ["--markdown"]
    assert completed("proton-viewer", "--color", "a", folder=tmp_path) == ["auto", "always"]
    assert completed("proton-opt", "--print", folder=tmp_path) == ["--print-after"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_names_every_option_of_proton(shell: str) -> None:
    script = completion_script(shell)
    spelling = "-l {}" if shell == "fish" else "--{}"
    _, branches = build_parser(RUN)
    names = [name for action in branches[RUN].actions for name in action.option_strings]
    long = [name[2:] for name in names if name.startswith("--")]
    assert len(long) > 10
    assert all(spelling.format(name) in script for name in long)
    assert "{" not in script or shell != "fish"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_can_read_its_script(shell: str, tmp_path: Path) -> None:
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "completion"
    path.write_text(completion_script(shell))
    subprocess.run([program, "-n", str(path)], check=True, timeout=20)


def test_the_script_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", "bash"]) == 0
    assert "complete -o default" in capsys.readouterr().out
    assert main(["--completion=csh"]) == 2
    assert "choose one of 'bash', 'fish', 'zsh'" in capsys.readouterr().err


def test_an_unknown_shell_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown shell 'csh'"):
        completion_script("csh")
