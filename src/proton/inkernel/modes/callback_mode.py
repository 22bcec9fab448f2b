"""The mode that calls functions of the user's, written as LLVM IR, and what they must look like.

Nothing of a callback touches a kernel before it was checked: its signature here, the whole text by
LLVM (`llvm.subprocess_check`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from proton.errors import UsageError
from proton.inkernel.ir.parse import split_list
from proton.inkernel.modes.instrumentation_mode import (
    InstrumentationMode,
    true_or_false,
    whole_number,
)

BUFFER = "ptr addrspace(1)"
# where -> what a callback is called with; it may take the profile buffer besides, last
SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "access": ("i64", "i32", "i32", "i32"),  # address, bytes, kind, site
    "branch": ("i32", "i32"),  # the condition or the value that is switched on, site
    "block": ("i32",),  # site
}
KINDS = ("load", "store", "atomic", "copy")  # the third argument of "access" is the number in here

_NAME = r'@(?:"[^"]*"|[-\w.$]+)'
_DEFINE = re.compile(r"^define (?P<before>[^@]*)@(?P<name>[-\w.$]+)\((?P<rest>.*)$", re.M)
_SIGNATURE = re.compile(rf'^[ \t]*define\b[^@]*{_NAME}\s*\((?:"[^"]*"|;[^\n]*|[^{{";])*\{{', re.M)
_COMMENT = re.compile(r'("[^"]*")|;[^\n]*')
_SPACED = re.compile(rf"({_NAME}) ?\( ?")
_QUOTED = re.compile(r'@"([-a-zA-Z$._][-\w$.]*)"')
_TYPE = re.compile(r"(?:ptr(?: *addrspace\( *(?P<space>\d+) *\))?|i\d+)(?=\s|$)")


def check_signature(text: str, name: str, where: str, path: str) -> bool:
    """Whether the callback `name` takes the profile buffer.

    Raises:
        UsageError: the text does not define it, or not with the parameters that it is called with.
    """
    if where not in SIGNATURES:
        raise UsageError.unknown("place to call at", where, choices=SIGNATURES)
    defined = {found["name"]: found for found in _DEFINE.finditer(with_plain_signatures(text))}
    wanted = f"define void @{name}({', '.join(SIGNATURES[where])})"
    if name not in defined:
        there = ", ".join(sorted(defined)) or "nothing"
        raise UsageError(f"{path}: does not define @{name}, only {there}; write: {wanted}")
    found = defined[name]
    parameters = _up_to_closing(found["rest"])
    types = tuple(_type_of(parameter) for parameter in split_list(parameters))
    has_buffer = types[-1:] == (BUFFER,)
    if (
        found["before"].split()[-1:] != ["void"]
        or types[: len(types) - has_buffer] != (SIGNATURES[where])
    ):
        signature = f"define {found['before']}@{name}({parameters})"
        raise UsageError(
            f"{path}: {signature!r} cannot be called at {where}; write: {wanted}, with {BUFFER} "
            "behind the others where it needs the profile buffer"
        )
    return has_buffer


def with_plain_signatures(text: str) -> str:
    """The text with each signature on one line, and names without the quotes they do not need.

    Compilers write both as this does; people, and other printers of LLVM IR, need not.
    """
    return _QUOTED.sub(r"@\1", _SIGNATURE.sub(_on_one_line, text))


def _on_one_line(signature: re.Match[str]) -> str:
    words = _COMMENT.sub(lambda found: found[1] or "", signature[0]).split()
    line = _SPACED.sub(r"\1(", " ".join(words), count=1)
    is_whole = line.count("(") == line.count(")")  # else the brace is a parameter's
    return f"{line}\n" if is_whole else line


def _up_to_closing(text: str) -> str:
    """The text before the bracket that closes what was open before it."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[:at]
    return text


def _type_of(parameter: str) -> str:
    """The type of a parameter without its attributes, of which LLVM has more every year."""
    found = _TYPE.match(parameter)
    if found is None:
        return parameter
    return f"ptr addrspace({found['space']})" if found["space"] else found[0]


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


def read_callbacks(path: str) -> str:
    """The text of a file of callbacks.

    Raises:
        UsageError: it cannot be read.
    """
    if not path:
        raise UsageError("call-at needs a file of LLVM IR with the callback; give file=PATH")
    try:
        return with_plain_signatures(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no text"
        raise UsageError(f"{path}: {reason.lower()}; give a file of LLVM IR as text") from None
