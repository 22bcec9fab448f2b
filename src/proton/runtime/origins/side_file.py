"""What a process noted of a generated file, kept beside it for those who find it in the cache."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from proton.model.origins import KernelOrigins, OriginLine, bounded
from proton.model.schema import to_object
from proton.runtime.origins.graph_nodes import NodeLine, Place, current_line

_FORMAT = 1
_MOST_BYTES = 16 << 20


class NotedKernel(NamedTuple):
    """A kernel or a call to a library, as inductor said what it is made of."""

    name: str
    is_extern: bool
    lines: Sequence[NodeLine]


def origins_of(kernel: NotedKernel, wrapper: str, line: int) -> KernelOrigins:
    """What a profile keeps of it; `line` is that of the call, 0 where the name is enough."""
    lines, left_out = bounded([each.origin for each in kernel.lines])
    return KernelOrigins(kernel.name, wrapper, line, lines, left_out)


def side_path(wrapper: str) -> str:
    """The side file of a generated file."""
    return f"{os.path.splitext(wrapper)[0]}.proton-origins.json"


def write_side_file(
    wrapper: str, kernels: Sequence[KernelOrigins], texts: Mapping[Any, str]
) -> None:
    """Keep what is known of `wrapper`; `texts` are those of lines, by file and number.

    Raises:
        OSError: It cannot be written.
    """
    lines = {(line.file, line.line) for kernel in kernels for line in kernel.lines}
    content = {
        "format": _FORMAT,
        "kernels": [to_object(replace(kernel, wrapper="")) for kernel in kernels],
        "texts": [[*place, texts[place]] for place in sorted(lines) if texts.get(place)],
    }
    path = side_path(wrapper)
    # A reader must not see half of it, and processes of several machines may write it at once.
    handle, beside = tempfile.mkstemp(".tmp", dir=os.path.dirname(path))
    try:
        with open(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(content, file)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def read_side_file(wrapper: str) -> list[KernelOrigins] | None:
    """What is kept for `wrapper`; None where nothing is, or nothing that can be used.

    Lines that moved since are named where they are now; a kernel of which some are gone is partial.
    """
    try:
        with open(side_path(wrapper), encoding="utf-8", errors="surrogateescape") as file:
            content = json.loads(file.read(_MOST_BYTES))
        if content["format"] != _FORMAT:
            return None
        texts = {(file, line): text for file, line, text in content["texts"]}
        return [_kernel(each, wrapper, texts) for each in content["kernels"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):  # another's, or damaged
        return None


def _kernel(entry: dict[str, Any], wrapper: str, texts: Mapping[Any, str]) -> KernelOrigins:
    lines = []
    for each in entry["lines"]:
        line = _line(**each)
        text = texts.get((line.file, line.line), "")
        now = current_line(Place(line.file, line.line, line.function, text))
        if now is not None:
            lines.append(replace(line, line=now))
    is_whole = len(lines) == len(entry["lines"])
    name, numbers = entry["kernel"], [entry.get(key, 0) for key in ("wrapper_line", "left_out")]
    if not isinstance(name, str) or any(type(number) is not int for number in numbers):
        raise ValueError("a kernel of another shape")
    wrapper_line, left_out = numbers
    return KernelOrigins(name, wrapper, wrapper_line, tuple(lines), left_out, not is_whole)


def _line(
    file: object,
    line: object,
    function: object = "",
    ops: object = (),
    nodes: object = (),
    is_backward: object = False,
) -> OriginLine:
    """A line as it stands in a side file.

    Raises:
        ValueError: It was not written by this module.
    """
    if not isinstance(file, str) or type(line) is not int or line < 1:
        raise ValueError("a line of another shape")
    return OriginLine(file, line, str(function), _texts(ops), _texts(nodes), is_backward is True)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueError("a list of another shape")
    return tuple(value)
