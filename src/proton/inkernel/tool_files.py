"""Buffers of tools in files: record on one machine, look on another."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict
from pathlib import Path

from proton.errors import FormatError
from proton.inkernel.memory_counts import TensorRange
from proton.inkernel.tool_layouts import RecordLayout, ToolBuffer

FORMAT = "proton tool buffer 1"
MOST_BYTES = 1 << 30  # that a file may unpack to


def save_buffer(buffer: ToolBuffer, path: str | Path) -> None:
    """Write a buffer with what is needed to read it again, but for the tool's layout."""
    packed = zlib.compress(bytes(memoryview(buffer.data).cast("B")), 9)
    described = {
        "format": FORMAT,
        "kernel": buffer.kernel,
        "grid_ctas": buffer.grid_ctas,
        "tensors": [asdict(each) for each in buffer.tensors],
        "record_map": dict(buffer.record_map),
        "data": base64.b64encode(packed).decode(),
    }
    Path(path).write_text(json.dumps(described), encoding="utf-8")


def load_buffer(path: str | Path, layout: RecordLayout) -> ToolBuffer:
    """A buffer that `save_buffer` wrote.

    Raises:
        FormatError: the file holds something else.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"format is {found['format']!r}")
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(found["data"], validate=True), MOST_BYTES)
        if not unpacking.eof:
            raise ValueError("its data is cut off, or too large")
        return ToolBuffer(
            kernel=str(found["kernel"]),
            data=data,
            record_map=dict(found["record_map"]),
            grid_ctas=int(found["grid_ctas"]),
            layout=layout,
            tensors=tuple(TensorRange(**each) for each in found["tensors"]),
        )
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise FormatError(f"{path}: is no buffer of a tool: {error}") from None
