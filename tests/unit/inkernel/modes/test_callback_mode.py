"""Mode call-at: its options."""

from pathlib import Path

import pytest

from proton.errors import UsageError
from proton.inkernel.compiler.mode_passes import mode_passes
from proton.inkernel.modes.callback_mode import CallAt
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.passes.call_at import CallAt as CallAtPass


def test_options_reach_the_pass_and_the_files_text_is_part_of_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "callback.ll"
    file.write_text("define void @visit(i32 %site) {\n  ret void\n}\n")
    text = f"call-at:file={file}:at=block:function=visit:inline=false"
    mode = parse_instrumentation(text)
    assert isinstance(mode, CallAt)
    assert parse_instrumentation(str(mode)) == mode
    assert mode_passes(mode, "llvm") == [
        CallAtPass(file=str(file), at="block", function="visit", inline=False)
    ]
    file.write_text("define void @visit(i32 %other) {\n  ret void\n}\n")
    assert parse_instrumentation(text) != mode


def test_a_file_without_the_callback_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="call-at needs a file of LLVM IR"):
        parse_instrumentation("call-at")
    with pytest.raises(UsageError, match="no such file or directory"):
        CallAt(file=str(tmp_path / "none.ll"))
    file = tmp_path / "callback.ll"
    file.write_text("")
    with pytest.raises(UsageError, match="does not define @callback, only nothing"):
        CallAt(file=str(file))


@pytest.mark.parametrize("folder", ["c++", "a+b", "+", "a + b", "50%2B", "a:b"])
def test_paths_may_have_the_characters_that_divide_modes(tmp_path: Path, folder: str) -> None:
    file = tmp_path / folder / "callback.ll"
    file.parent.mkdir()
    file.write_text("define void @callback(i32 %site) {\n  ret void\n}\n")
    mode = CallAt(file=str(file), at="block")
    assert mode.file == str(file)
    assert parse_instrumentation(str(mode)) == mode
    joined = parse_instrumentation(f"ops+{mode}+cta")
    assert joined.names == ("ops", "cta", "call-at")
    assert parse_instrumentation(str(joined)) == joined


@pytest.mark.parametrize("folder", ["c++", "+x", "a+b/c"])
def test_a_plus_in_a_path_may_stand_as_it_is_where_no_name_of_a_mode_follows(
    tmp_path: Path, folder: str
) -> None:
    file = tmp_path / folder / "callback.ll"
    file.parent.mkdir(parents=True)
    file.write_text("define void @callback(i32 %site) {\n  ret void\n}\n")
    mode = parse_instrumentation(f"ops:ops=load+call-at:file={file}:at=block+cta")
    assert mode.names == ("ops", "cta", "call-at")
    assert CallAt(file=str(file), at="block") in mode.parts
