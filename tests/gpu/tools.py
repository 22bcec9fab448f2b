"""A tool of one's own that tests of several modes and kernels hand to sessions."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from proton.inkernel.tool import Tool
from proton.inkernel.tool_layouts import BytesLayout, ToolBuffer

CALLBACKS = Path(__file__).parents[1] / "data" / "callbacks"


@dataclass(frozen=True)
class CountedByCallback(Tool):
    """Adds up bytes with a function written as LLVM IR."""

    name: str = field(default="counted-by-callback", init=False)
    passes: ClassVar[Any] = ("record-ctas", "call-at")
    layout: ClassVar[Any] = BytesLayout(16)
    file: str = str(CALLBACKS / "count_bytes.ll")
    function: str = "count_bytes"
    buffer_bytes: int = 16
    seen: ClassVar[list[tuple[int, ...]]] = []

    def on_buffer(self, buffer: ToolBuffer) -> None:
        self.seen.append(struct.unpack_from("<2Q", buffer.contents))
