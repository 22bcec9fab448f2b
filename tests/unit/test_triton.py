import re
import sys
from pathlib import Path
from typing import Any

import pytest

from proton import _triton
from proton._triton.interpreter import interpreter_parts


def test_importing_the_door_imports_no_triton(run_python: Any) -> None:
    result = run_python(
        "import sys, proton._triton, proton.language\nprint('triton' in sys.modules)"
    )
    assert result.stdout == "False\n", result.stderr


def test_the_version_is_known_without_importing_triton(run_python: Any) -> None:
    pytest.importorskip("triton")
    result = run_python(
        "import sys\nfrom proton import _triton\n"
        "print(_triton.version(), _triton.is_installed(), 'triton' in sys.modules)"
    )
    assert result.stdout == f"{sys.modules['triton'].__version__} True False\n", result.stderr


def test_a_callback_runs_at_once_where_triton_is_imported() -> None:
    pytest.importorskip("triton")
    calls: list[int] = []
    cancel = _triton.when_imported(lambda: calls.append(1))
    cancel()
    assert calls == [1]


def test_launch_hooks_go_in_and_out() -> None:
    pytest.importorskip("triton")

    def enter(metadata: object) -> None: ...

    def leave(metadata: object) -> None: ...

    _triton.add_launch_hooks(enter, leave)
    runtime = _triton.runtime_knobs()
    assert enter in runtime.launch_enter_hook.calls
    assert leave in runtime.launch_exit_hook.calls
    _triton.remove_launch_hooks(enter, leave)
    _triton.remove_launch_hooks(enter, leave)
    assert enter not in runtime.launch_enter_hook.calls
    assert leave not in runtime.launch_exit_hook.calls


@pytest.mark.matrix
def test_every_part_of_the_interpreter_is_found() -> None:
    pytest.importorskip("triton")
    pytest.importorskip("numpy")
    parts = interpreter_parts()
    assert all(value is not None for value in vars(parts).values())


@pytest.mark.parametrize(
    ("version", "is_supported"),
    [
        ("3.6.0", True),
        ("3.9.1+git1234", True),
        ("3.10.0", False),
        ("3.5.1", False),
        ("4.6.0", False),
    ],
)
def test_versions_3_6_to_3_9_are_supported(
    monkeypatch: pytest.MonkeyPatch, version: str, is_supported: bool
) -> None:
    monkeypatch.setattr(_triton, "version", lambda: version)
    assert _triton.is_supported() is is_supported


def test_only_the_doors_import_triton_and_torch() -> None:
    doors = {"triton": "_triton/", "torch": "_torch.py"}
    source = Path(_triton.__file__).parents[1]
    imports = re.compile(
        r"^\s*(?:import|from) (triton|torch)\b|import_module\(\"(triton|torch)\b", re.MULTILINE
    )
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        for plain, late in imports.findall(path.read_text(encoding="utf-8")):
            assert name.startswith(doors[plain or late]), name
