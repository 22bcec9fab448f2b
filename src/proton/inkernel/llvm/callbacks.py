"""Callbacks that users write as LLVM IR: what they must look like, and whether LLVM takes them.

Nothing of a callback touches a kernel before it was checked: its signature here, the whole text by
LLVM in a process of its own, because LLVM ends the process it finds a broken module in.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from proton import _triton
from proton.errors import UsageError
from proton.inkernel.llvm.llvm_types import split_list
from proton.inkernel.llvm.subprocess_check import parse_problem, run_apart

BUFFER = "ptr addrspace(1)"
# where -> what a callback is called with; it may take the profile buffer besides, last
SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "access": ("i64", "i32", "i32", "i32"),  # address, bytes, kind, site
    "branch": ("i32", "i32"),  # the condition or the value that is switched on, site
    "block": ("i32",),  # site
}
KINDS = ("load", "store", "atomic", "copy")  # the third argument of "access" is the number in here
CHECK_LIMIT_S = 60

_NAME = r'@(?:"[^"]*"|[-\w.$]+)'
_DEFINE = re.compile(r"^define (?P<before>[^@]*)@(?P<name>[-\w.$]+)\((?P<rest>.*)$", re.M)
_SIGNATURE = re.compile(rf'^[ \t]*define\b[^@]*{_NAME}\s*\((?:"[^"]*"|;[^\n]*|[^{{";])*\{{', re.M)
_COMMENT = re.compile(r'("[^"]*")|;[^\n]*')
_SPACED = re.compile(rf"({_NAME}) ?\( ?")
_QUOTED = re.compile(r'@"([-a-zA-Z$._][-\w$.]*)"')
_TYPE = re.compile(r"(?:ptr(?: *addrspace\( *(?P<space>\d+) *\))?|i\d+)(?=\s|$)")
_CHECK = """
import sys
from proton import _triton
text = open(sys.argv[1], encoding="utf-8").read()
if problem := _triton.llvm_parse_error(text):
    print(problem, flush=True)
    _triton.end_on_parse_error(text)  # in LLVM's words, if it has any
"""
# LLVM verifies what it reads if the module has debug metadata of this version
_VERIFIED = '!llvm.module.flags = !{!999999}\n!999999 = !{i32 2, !"Debug Info Version", i32 3}\n'
_FLAGS = re.compile(r"^!llvm\.module\.flags = .*$", re.M)


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
        given = f"define {found['before']}@{name}({parameters})"
        raise UsageError(
            f"{path}: {given!r} cannot be called at {where}; write: {wanted}, with {BUFFER} behind "
            "the others where it needs the profile buffer"
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


def verify_callbacks(text: str, path: str) -> None:
    """Have LLVM read and verify the text by itself, in another process; once for each text.

    Raises:
        UsageError: LLVM refuses it; the message has LLVM's words.
    """
    if _triton.is_installed() and (problem := _problem_of(text)):
        raise UsageError(f"{path}: LLVM refuses it: {problem}; the kernel stays as it is")


@lru_cache(maxsize=64)
def _problem_of(text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="proton-callback-") as folder:
        file = Path(folder, "callbacks.ll")
        verified = f"{_FLAGS.sub('', text)}\n{_VERIFIED}"
        file.write_text(verified, encoding="utf-8")
        done = run_apart(_CHECK, str(file), CHECK_LIMIT_S)
        if done is None:
            return f"it took longer than {CHECK_LIMIT_S} s to check"
        if done.returncode == 0 and not done.stdout.strip():
            return ""
        if unreadable := parse_problem(done.stderr, verified):
            return unreadable[:300]
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith(("LLVM ERROR", "Stack dump", "#"))]
        return " ".join(said[:3])[:300] or done.stdout.strip().replace(str(file), "the text")
