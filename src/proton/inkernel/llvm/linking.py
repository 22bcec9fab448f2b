"""Puts functions of another LLVM text into a kernel's: renumbered, internal, and inlined if wanted.

Numbers of attributes and metadata get out of the way of the kernel's; what only concerns the other
module itself (target, flags, debug info) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proton.errors import InstrumentationError
from proton.inkernel.llvm.module import LlvmModule

_LEFT_OUT = re.compile(
    r"^(?:;|source_filename|target |!llvm\.|!nvvm\.|!opencl\.|\^|\$|module asm|"
    r"!\d+ = (?:distinct )?!DI|\s+#dbg_|.*\bcall void @llvm\.dbg\.)"
)
_GROUP = re.compile(r"#(\d+)\b")
_METADATA = re.compile(r"!(\d+)\b")
_DEBUG = re.compile(r",? ?!dbg !\d+")
_NODE = re.compile(r"^!(\d+) = ")
_COMDAT = r" comdat(?:\(\$[^)]*\))?"
_TAIL = re.compile(rf'{_COMDAT}| (?:section|partition) "[^"]*"| ![a-z]\w* !\d+')  # of a function
_SHARING = re.compile(rf'(c"[^"]*")|,{_COMDAT}')  # of a variable; strings stay
_LINKAGE = re.compile(
    r"^define (?:private |internal |weak_odr |weak |linkonce_odr |linkonce |external |dso_local |"
    r"hidden |protected )*"
)
_UNWANTED = re.compile(
    r'\b(?:noinline|optnone|alwaysinline|inlinehint|mustprogress)\b|"[^"]*"(?:="[^"]*")?'
)
_SYMBOL = re.compile(r"^(?:define|declare) [^@]*@([-\w.$]+)\(|^@([-\w.$]+) =")
_DECLARE = re.compile(r"^declare ")


def link(module: LlvmModule, text: str, *, is_inlined: bool) -> None:
    """Append the functions, globals and types of `text` to the module.

    Raises:
        InstrumentationError: both define the same name, or the text calls what nobody defines.
    """
    known = _symbols([*module.prologue, module.kernel.header, *module.epilogue])
    _check_declared(module, text, known)
    outside = [*module.prologue, *module.epilogue]
    groups = _next_number(outside, _GROUP)
    numbers = _next_number(outside, _METADATA)
    before: list[str] = []
    after: list[str] = []
    for line in _kept(text):
        symbol = _SYMBOL.match(line)
        name = (symbol[1] or symbol[2]) if symbol else ""
        if name in known:
            if _DECLARE.match(line) or known[name]:
                continue  # one declaration is enough, and a definition is better
            raise InstrumentationError(
                f"kernel {module.kernel.name!r}: callbacks define @{name}, which the kernel's "
                "module defines, too; name it otherwise"
            )
        moved = _renumbered(line, groups, numbers)
        if moved.startswith("define "):
            moved = _internal(moved, is_inlined)
        elif moved.startswith("@"):
            moved = _SHARING.sub(lambda found: found[1] or "", moved)
        elif moved.startswith("attributes #"):
            moved = _UNWANTED.sub("", moved)
        (before if moved.startswith(("@", "%")) else after).append(moved)
    module.prologue += before
    module.epilogue += after


def _kept(text: str) -> list[str]:
    """The lines that mean something in another module, with no metadata that nothing asks for."""
    lines = [
        _TAIL.sub("", line) if line.startswith("define ") else line
        for line in _DEBUG.sub("", text).split("\n")
        if line.strip() and not _LEFT_OUT.match(line)
    ]
    nodes = {found[1]: line for line in lines if (found := _NODE.match(line))}
    code = [line for line in lines if not _NODE.match(line)]
    asked = [number for line in code for number in _METADATA.findall(line)]
    kept: dict[str, str] = {}
    while asked:
        number = asked.pop()
        if number in nodes and number not in kept:
            inside = _METADATA.findall(nodes[number])
            gone = {each for each in inside if each not in nodes}  # debug info
            kept[number] = _without_nodes(nodes[number], gone)
            asked += inside
    return [*code, *(kept[number] for number in nodes if number in kept)]


def _without_nodes(line: str, gone: set[str]) -> str:
    """A node of metadata without some of those that it lists."""
    head, _, listed = line.partition("{")
    words = [each for each in listed.removesuffix("}").split(", ") if each[1:] not in gone]
    return f"{head}{{{', '.join(words)}}}" if gone else line


def _check_declared(module: LlvmModule, text: str, known: dict[str, bool]) -> None:
    """NVIDIA's assembler knows what the driver defines; AMD's linker may leave it to the loader."""
    if module.kernel.vendor != "amd":
        return
    own = _symbols(text.split("\n"))
    defined = {
        name for names in (known, own) for name, is_declared in names.items() if not is_declared
    }
    gone = sorted(name for name in own if name not in defined and not name.startswith("llvm."))
    if gone:
        raise InstrumentationError(
            f"kernel {module.kernel.name!r}: callbacks call @{gone[0]}, which nobody defines; "
            "define it in the same file"
        )


def _symbols(lines: list[str]) -> dict[str, bool]:
    """Names of a module -> whether they are only declared."""
    found: dict[str, bool] = {}
    for line in lines:
        if symbol := _SYMBOL.match(line):
            found[symbol[1] or symbol[2]] = bool(_DECLARE.match(line))
    return found


def _next_number(lines: list[str], pattern: re.Pattern[str]) -> int:
    found = (int(number) for line in lines for number in pattern.findall(line))
    return max(found, default=-1) + 1


def _renumbered(line: str, groups: int, numbers: int) -> str:
    """The line with its numbers moved; what stands in quotes stays."""

    def moved(mark: str, by: int) -> Callable[[re.Match[str]], str]:
        return lambda found: f"{mark}{int(found[1]) + by}"

    parts = line.split('"')
    parts[::2] = [
        _METADATA.sub(moved("!", numbers), _GROUP.sub(moved("#", groups), part))
        for part in parts[::2]
    ]
    return '"'.join(parts)


def _internal(define: str, is_inlined: bool) -> str:
    head = _LINKAGE.sub("define internal ", define)
    kind = "alwaysinline" if is_inlined else "noinline"
    return f"{head.rstrip().removesuffix('{').rstrip()} {kind} {{"
