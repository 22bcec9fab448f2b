import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton.errors import UsageError
from proton.inkernel import passes
from proton.inkernel.compiler.pipeline import load_passes
from proton.inkernel.modes.mode_table import MODES
from proton.inkernel.passes import load_pass

PASS = '''
from dataclasses import dataclass, field
from typing import ClassVar

@dataclass(frozen=True)
class Mine:
    """Does nothing."""

    name: ClassVar[str] = "mine"
    level: ClassVar[str] = "ttgir"
    count: int = 3

    def apply(self, module: object) -> None:
        pass
'''
TOOL = (
    PASS.replace('"mine"', '"mine-too"')
    + """
from proton.inkernel.tool import Tool, register
from proton.inkernel.tool_layouts import RecordsLayout

@register
@dataclass(frozen=True)
class MyTool(Tool):
    name: str = field(default="my-tool", init=False)
    passes: ClassVar = (Mine, "record-ctas")
    layout: ClassVar = RecordsLayout()

    def on_buffer(self, buffer):
        pass
"""
)


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(passes, "_REGISTERED", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    modes = dict(MODES)
    yield
    for name in [each for each in sys.modules if each.startswith(("proton_loaded_", "mine_"))]:
        del sys.modules[name]
    MODES.clear()
    MODES.update(modes)


def test_passes_of_a_file_are_known_by_their_names(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PASS)
    assert load_passes(str(file)) == ("mine",)
    assert load_passes(str(file)) == ("mine",), "once more does no harm"
    assert vars(load_pass("mine", {"count": "5"})) == {"count": 5}


def test_a_module_is_found_below_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "mine_by_name.py").write_text(PASS)
    assert load_passes("mine_by_name") == ("mine",)


def test_a_tool_that_the_module_registers_is_a_mode(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(TOOL)
    assert load_passes(str(file)) == ("mine-too", "my-tool")
    assert "my-tool" in MODES


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: No module named"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("x = 1", "has no pass; a pass is a frozen dataclass with name, level and apply"),
        (PASS.replace('"ttgir"', '"ptx"'), "unknown level of pass 'mine' 'ptx'"),
        (PASS.replace('"mine"', '"prepare"'), "pass 'prepare' is there already"),
    ],
)
def test_what_is_wrong_with_a_module_is_said(tmp_path: Path, code: str, problem: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    with pytest.raises(UsageError) as raised:
        load_passes(str(file))
    assert problem in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.py: cannot be imported: FileNotFoundError"):
        load_passes(str(tmp_path / "absent.py"))
