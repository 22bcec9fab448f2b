"""Files that Triton puts in the place of code behind our passes: LLVM text, assembly, binaries.

`TRITON_KERNEL_OVERRIDE` and `ir_override` of an autotuner's configuration replace what a stage gave
out. TTIR and TTGIR get their records afterwards; later code has none of ours but what is in the
file, so whoever put records in is told. An equal file replaces nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proton import _triton_compiler
from proton.inkernel import layout


@dataclass(frozen=True)
class LateCode:
    """What a stage gave out on this thread, with records in it.

    Attributes:
        level: The stage: `llir`, `ptx`, `cubin`, `amdgcn` or `hsaco`.
        code: As Triton got it.
        on_replaced: Called with the path of the file that Triton goes on with, and what is in it.
    """

    level: str
    code: str | bytes
    on_replaced: Callable[[str, str | bytes], None]


class _OfThread(threading.local):
    code: LateCode | None = None


_last = _OfThread()


def note(code: LateCode | None) -> None:
    """Say what a stage gave out; None: a kernel is compiled that has no such code so far."""
    _last.code = code


def holds_records(code: str | bytes) -> bool:
    """Whether code writes headers of our buffers: a file may have been made while recording."""
    if isinstance(code, bytes):
        return layout.MAGIC.to_bytes(4, "little") in code
    return str(layout.MAGIC) in code or hex(layout.MAGIC) in code


def watch_files() -> Callable[[], None]:
    """See from now on which files Triton takes; what undoes it."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def parse(full_name: str, ext: str, context: Any) -> Any:
            taken = original(full_name, ext, context)
            last = _last.code
            if last is not None and last.level == ext and taken != last.code:
                last.on_replaced(str(full_name), taken)
                _last.code = None
            return taken

        return parse

    return _triton_compiler.wrap_function(_triton_compiler.compiler_module(), "parse", make)
