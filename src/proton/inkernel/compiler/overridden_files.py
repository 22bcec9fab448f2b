"""Files that Triton reads in the place of what its stages made, while recording is on.

Triton reads them for `TRITON_KERNEL_OVERRIDE`, for `ir_override` of an autotuner's configuration
and for `triton.compile("kernel.ttgir")`. In TTIR and TTGIR people may write `proton.record start
"name"`: such lines become carriers before Triton's parser sees them; where one cannot be read, all
such lines of the file are left out and a warning says so. Later code (LLVM text, assembly,
binaries) has no records but what is in the file, so whoever put records in is told. An equal file
replaces nothing.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proton._triton import compiler as _triton_compiler
from proton._triton.types import Wrapped
from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
from proton.inkernel.ir.carriers import from_ttgir

_PLAIN = re.compile(r"^[ \t]*proton\.", re.MULTILINE)
_TARGET = re.compile(r'\bttg\.target = "([^"]*)"')
_LOCATION = re.compile(r"\s*(loc\(.*\))\s*(?://.*)?$")
_NAME = re.compile(r"%proton_(\d+)\b")
_QUOTABLE = re.compile(r'[^"\\<>]+$')


def with_carriers(text: str, path: str = "<ir>") -> str:
    """TTIR or TTGIR text with its `proton.record` lines as carriers, line for line.

    Raises:
        InstrumentationError: such a line cannot be read; the message begins with its place.
    """
    target = _TARGET.search(text)
    number = max(map(int, _NAME.findall(text)), default=-1)
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not _PLAIN.match(line):
            continue
        try:
            carrier = from_ttgir(line)
        except InstrumentationError as error:
            raise InstrumentationError(f"{path}:{at + 1}: {error}") from None
        assert carrier is not None
        number += 1
        indent = line[: len(line) - len(line.lstrip())]
        written = carrier.to_ttgir(f"%proton_{number}", target[1] if target else "cuda")
        lines[at] = f"{indent}{written} {_location(line, path, at + 1)}".rstrip()
    return "\n".join(lines)


def without_lines(text: str) -> str:
    """TTIR or TTGIR text with its `proton.` lines empty."""
    return "\n".join("" if _PLAIN.match(line) else line for line in text.split("\n"))


def _location(line: str, path: str, number: int) -> str:
    """Where a record stands: what its line says, else its place in the file that people know."""
    if found := _LOCATION.search(line):
        return found[1]
    return f'loc("{path}":{number}:1)' if _QUOTABLE.match(path) else ""


def read_records_in_files(warn: Callable[[str], None]) -> Callable[[], None]:
    """Have Triton read files with `proton.record` lines from now on; what undoes it."""

    def make(original: Wrapped) -> Wrapped:
        def parse_mlir_module(path: str, context: object) -> object:
            text = Path(path).read_text(encoding="utf-8")
            if not _PLAIN.search(text):
                return original(path, context)
            try:
                text = with_carriers(text, str(path))
            except InstrumentationError as error:
                warn(f"{error}; the lines `proton.` of this file are left out")
                text = without_lines(text)
            with tempfile.TemporaryDirectory(prefix="proton-override-") as folder:
                rewritten = Path(folder, Path(path).name)
                rewritten.write_text(text, encoding="utf-8")
                return original(str(rewritten), context)

        return parse_mlir_module

    return _triton_compiler.wrap_function(_triton_compiler.ir_module(), "parse_mlir_module", make)


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


class _LastCode(threading.local):
    code: LateCode | None = None


_last = _LastCode()


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

    def make(original: Wrapped) -> Wrapped:
        def parse(full_name: str, ext: str, context: object) -> object:
            taken = original(full_name, ext, context)
            last = _last.code
            is_replaced = last is not None and last.level == ext and taken != last.code
            if last is not None and is_replaced and isinstance(taken, str | bytes):
                last.on_replaced(str(full_name), taken)
                _last.code = None
            return taken

        return parse

    return _triton_compiler.wrap_function(_triton_compiler.compiler_module(), "parse", make)
