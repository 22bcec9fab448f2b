"""Mode call-at: its options."""

from pathlib import Path

import pytest

from proton.errors import UsageError
from proton.inkernel.callback_mode import CallAtMode
from proton.inkernel.modes import parse_instrumentation
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.recipe import mode_passes


def test_options_reach_the_pass_and_the_files_text_is_part_of_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "callback.ll"
    file.write_text("define void @visit(i32 %site) {\n  ret void\n}\n")
    text = f"call-at:file={file}:at=block:function=visit:inline=false"
    mode = parse_instrumentation(text)
    assert isinstance(mode, CallAtMode)
    assert parse_instrumentation(str(mode)) == mode
    assert mode_passes(mode, "llvm") == [
        CallAt(file=str(file), at="block", function="visit", inline=False)
    ]
    file.write_text("define void @visit(i32 %other) {\n  ret void\n}\n")
    assert parse_instrumentation(text) != mode


def test_a_file_without_the_callback_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="call-at needs a file of LLVM IR"):
        parse_instrumentation("call-at")
    with pytest.raises(UsageError, match="no such file or directory"):
        CallAtMode(file=str(tmp_path / "none.ll"))
    file = tmp_path / "callback.ll"
    file.write_text("")
    with pytest.raises(UsageError, match="does not define @callback, only nothing"):
        CallAtMode(file=str(file))
