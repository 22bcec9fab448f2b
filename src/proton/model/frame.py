"""One name in a calling path, and what kind of thing it names."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class FrameKind(Enum):
    """What a frame names; the value is the letter that stands for it in files."""

    ROOT = "r"
    SCOPE = "s"
    STATE = "t"
    PYTHON = "p"
    KERNEL = "k"
    COPY = "c"
    SAMPLE = "l"
    MODULE = "m"  # of a framework: its path, as in `transformer.h.3.attn`
    OPERATOR = "o"  # of a framework: `aten::addmm`; in a backward pass also its nodes
    BACKWARD = "b"  # `<backward>` or `<recompute>`: what is below ran for the path above


class Frame(NamedTuple):
    """One name in a path. `file` and `line` are known for Python frames and source lines."""

    name: str
    kind: FrameKind = FrameKind.SCOPE
    file: str | None = None
    line: int | None = None
    function: str | None = None


METADATA_SCOPE = "__proton_launch_metadata"  # below it: work for metrics, none of the program's
VALUE_READ = "<metric>"  # a run of the kernel that reads metric values on a GPU

ROOT_FRAME = Frame("ROOT", FrameKind.ROOT)
