"""The mode that calls functions of the user's, written as LLVM IR, in kernels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import ClassVar

from proton.inkernel.llvm.callbacks import check_signature
from proton.inkernel.modes.instrumentation_mode import (
    InstrumentationMode,
    true_or_false,
    whole_number,
)
from proton.inkernel.passes.call_at import read_callbacks


@dataclass(frozen=True)
class CallAt(InstrumentationMode):
    """Calls `function` of the LLVM IR in `file` at every `access`, `branch` or `block` entry.

    A tool of one's own (`proton.inkernel.tool`) that also wants what callbacks wrote has the passes
    ("record-ctas", "call-at"), fields of these names, and a `BytesLayout`.

    Raises:
        UsageError: the file is not there, or has no such callback.
    """

    passes: ClassVar[tuple[str, ...]] = ("record-ctas", "call-at")
    name: str = field(default="call-at", init=False)
    file: str = ""
    at: str = "access"
    function: str = "callback"
    inline: bool = True
    buffer_bytes: int = 0
    code: str = ""  # digest of the file: caches never mix two versions of it

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("inline", true_or_false("inline", self.inline))
        self._set("buffer_bytes", whole_number("buffer_bytes", self.buffer_bytes, "bytes"))
        text = read_callbacks(self.file)
        check_signature(text, self.function, self.at, self.file)
        self._set("code", hashlib.sha256(text.encode()).hexdigest()[:12])
