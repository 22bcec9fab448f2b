"""MLIR's generic form, `"tt.func"() <{...}> ({`, brought into the usual one that our passes read.

Only the parser of Triton knows the operations that well, so this takes Triton.
"""

from __future__ import annotations

import re

from proton import _triton, _triton_compiler
from proton.errors import FormatError

_GENERIC = re.compile(r'^[ \t]*"(?:builtin\.module|tt\.func)"\s*\(', re.MULTILINE)


def is_generic(text: str) -> bool:
    """Whether TTIR or TTGIR text is in generic form."""
    return _GENERIC.search(text) is not None


def to_usual_form(text: str, path: str) -> str:
    """The same module as Triton prints it. Imports Triton.

    Args:
        text: In any form.
        path: Its name, in messages and in locations of operations that have none.

    Raises:
        FormatError: Triton is not there, or cannot read it.
    """
    if not _triton.is_supported():
        raise FormatError(
            f"{path}: is in MLIR's generic form, which takes Triton 3.6 to 3.9 to read; install "
            "one, or print the file without --mlir-print-op-generic"
        )
    try:
        return _triton_compiler.printed_module(text, path)
    except RuntimeError as error:
        raise FormatError(f"{path}: Triton cannot read it: {error}") from None
