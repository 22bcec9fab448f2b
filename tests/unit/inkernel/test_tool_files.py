"""Buffers of tools in files."""

from pathlib import Path

import pytest

from proton.errors import FormatError
from proton.inkernel.memory_counts import TensorRange
from proton.inkernel.tool_files import load_buffer, save_buffer
from proton.inkernel.tool_layouts import BytesLayout, ToolBuffer

LAYOUT = BytesLayout(4)


def test_a_buffer_comes_back_as_it_was(tmp_path: Path) -> None:
    tensors = (TensorRange("x", 16, 32, 0),)
    buffer = ToolBuffer("k", bytes(range(256)), {"warps": [0]}, 64, LAYOUT, tensors)
    save_buffer(buffer, tmp_path / "b.json")
    assert load_buffer(tmp_path / "b.json", LAYOUT) == buffer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other"}',
        '{"format": "proton tool buffer 1", "data": "!"}',
        '{"format": "proton tool buffer 1", "data": "eJw="}',
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(FormatError, match="is no buffer of a tool"):
        load_buffer(path, LAYOUT)
