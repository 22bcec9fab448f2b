"""Origins kept beside generated files for processes that find these in the cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proton.model.origins import KernelOrigins, OriginLine
from proton.runtime.origins.side_file import read_side_file, side_path, write_side_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    y = x.relu()\n    return y * 2\n")
    return path


def kernel_of(source: Path, wrapper: str) -> KernelOrigins:
    lines = (
        OriginLine(str(source), 2, "f", ("aten.relu",), ("relu",)),
        OriginLine(str(source), 3, "f", ("aten.mul",), ("mul",), is_backward=True),
    )
    return KernelOrigins("k", wrapper, 0, lines, left_out=1)


def written(source: Path, tmp_path: Path) -> tuple[str, KernelOrigins]:
    wrapper = str(tmp_path / "cab.py")
    kernel = kernel_of(source, wrapper)
    texts = {(str(source), 2): "y = x.relu()", (str(source), 3): "return y * 2"}
    write_side_file(wrapper, [kernel], texts)
    return wrapper, kernel


def test_what_was_written_is_read(source: Path, tmp_path: Path) -> None:
    wrapper, kernel = written(source, tmp_path)
    assert read_side_file(wrapper) == [kernel]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cab.proton-origins.json",
        "model.py",
    ]


def test_lines_that_moved_are_named_where_they_are(source: Path, tmp_path: Path) -> None:
    wrapper, _ = written(source, tmp_path)
    source.write_text("import torch\n\n" + source.read_text())
    (kernel,) = read_side_file(wrapper) or []
    assert [line.line for line in kernel.lines] == [4, 5]
    assert not kernel.is_partial


def test_a_kernel_whose_line_is_gone_is_partial(source: Path, tmp_path: Path) -> None:
    wrapper, _ = written(source, tmp_path)
    source.write_text("def f(x):\n    y = x.relu()\n    return y * 3\n")
    (kernel,) = read_side_file(wrapper) or []
    assert [line.line for line in kernel.lines] == [2]
    assert kernel.is_partial


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 2}', '{"format": 1, "texts": [], "kernels": [{"lines": 1}]}', "\0"],
)
def test_a_damaged_side_file_is_none(tmp_path: Path, text: str) -> None:
    wrapper = str(tmp_path / "cab.py")
    Path(side_path(wrapper)).write_text(text)
    assert read_side_file(wrapper) is None


def test_values_of_other_types_are_refused(source: Path, tmp_path: Path) -> None:
    wrapper, _ = written(source, tmp_path)
    path = Path(side_path(wrapper))
    for key, value in (("line", "2"), ("file", 3), ("ops", "aten"), ("nodes", [1]), ("line", 0)):
        content = json.loads(path.read_text())
        content["kernels"][0]["lines"][0][key] = value
        other = tmp_path / "other.py"
        Path(side_path(str(other))).write_text(json.dumps(content))
        assert read_side_file(str(other)) is None, key
