"""Lines from nodes of FX graphs and from stack traces, as torch writes them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proton.model.origins import OriginLine
from proton.runtime.origins.graph_nodes import (
    NodeLine,
    Place,
    current_line,
    innermost_place,
    lines_of_nodes,
    lines_of_schedule,
)

TRACE = """\
  File "/home/me/train.py", line 40, in step
    loss = model(x)
           ^^^^^^^^
  File "/home/me/model.py", line 9, in forward
    y = torch.relu(y)
        ^^^^^^^^^^^^^
"""


class Op:
    """An operator with an overload, as torch has them."""

    def __init__(self, name: str) -> None:
        self._overloadpacket = name


class Node:
    """A node of an FX graph."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


def node(name: str, trace: str | None, op: str = "aten.relu", **meta: Any) -> Any:
    return Node(
        name=name,
        op="call_function",
        stack_trace=trace,
        target=Op(op),
        meta={"original_aten": Op(op), **meta},
    )


def test_the_innermost_frame_counts() -> None:
    assert innermost_place(TRACE) == Place("/home/me/model.py", 9, "forward", "y = torch.relu(y)")


def test_frames_of_torch_are_for_the_line_that_called_them() -> None:
    inner = (
        '  File "/lib/torch/nn/modules/linear.py", line 125, in forward\n    return F.linear()\n'
    )
    place = innermost_place(TRACE + inner)
    assert place is not None
    assert (place.file, place.line) == ("/home/me/model.py", 9)
    alone = innermost_place(inner)
    assert alone is not None
    assert alone.line == 125


@pytest.mark.parametrize("trace", ["", "nothing", 'File "x", line y, in z'])
def test_a_trace_without_frames_has_no_place(trace: str) -> None:
    assert innermost_place(trace) is None


def test_nodes_of_a_line_are_one_and_inputs_are_none() -> None:
    nodes = [
        node("relu", TRACE),
        node("le", TRACE, "aten.threshold_backward", partitioner_tag="is_backward"),
        node("lost", None),
        Node(op="placeholder", stack_trace=TRACE),
    ]
    line = OriginLine(
        "/home/me/model.py",
        9,
        "forward",
        ("aten.relu", "aten.threshold_backward"),
        ("relu", "le"),
        is_backward=True,
    )
    assert lines_of_nodes(nodes) == [NodeLine(line, "y = torch.relu(y)")]


def test_a_call_to_a_library_is_its_own_node_only() -> None:
    own, argument = node("mm", TRACE, "aten.mm"), node("sin", TRACE, "aten.sin")
    call = SimpleNamespace(origin_node=own, origins=[own, argument])
    ((line, _),) = lines_of_schedule(call, is_extern=True)
    assert line.ops == ("aten.mm",)
    call.origin_node = None
    ((line, _),) = lines_of_schedule(call, is_extern=True)
    assert line.ops == ("aten.mm", "aten.sin")


def test_markers_in_a_schedule_have_no_node() -> None:
    buffer = SimpleNamespace(origins=[node("relu", TRACE)])
    found = lines_of_schedule([object(), SimpleNamespace(node=buffer)], is_extern=False)
    assert [each.origin.nodes for each in found] == [("relu",)]


def test_a_line_that_moved_is_found_by_its_text(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import torch\n\n\ndef f(x):\n    return x + 1\n")
    at = Place(str(file), 2, "f", "return x + 1")
    assert current_line(at) == 5
    assert current_line(at._replace(text="return x + 2")) is None
    assert current_line(at._replace(text="")) == 2
    assert current_line(at._replace(file=str(tmp_path / "gone.py"))) == 2
