"""What the lowering decided, for whoever compiles and launches the kernel.

It stands behind the module's text as a comment, so that text alone says how to read the buffers of
its kernel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_COMMENT = "; proton.lowering "


@dataclass(frozen=True)
class Lowering:
    """Sizes for the compiled kernel's metadata, and the record map that its buffers are read by."""

    shared_bytes: int | None  # what the kernel needs with its rings; None: as before
    scratch_bytes: int  # of the profile buffer, for each CTA of the grid
    scratch_align: int  # bytes
    record_map: Mapping[str, Any]  # JSON

    def comment(self) -> str:
        """As a line of LLVM text."""
        return _COMMENT + json.dumps(asdict(self), separators=(",", ":"))


def read_lowering(lines: Sequence[str]) -> Lowering | None:
    """The lowering that a lowered module carries; None for one that is not lowered."""
    for line in reversed(lines):
        if line.startswith(_COMMENT):
            return Lowering(**json.loads(line.removeprefix(_COMMENT)))
    return None
