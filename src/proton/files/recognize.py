"""Whether a file is of a kind that Proton writes, by how it begins; nothing is decoded.

Commands ask before they replace a file. What is not recognized is kept, so a doubtful file counts
as somebody else's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from proton.files.encoding import schema
from proton.files.perfetto.read import is_cut_perfetto, is_perfetto

PAGE = "page"  # what `report` writes
IR = "ir"  # what `proton-opt` writes
_HEAD_BYTES = 1 << 16
_MSGPACK_LISTS = (0x91, 0x92, 0xDC, 0xDD)
_PAGE_MARK = b'id="proton-data"'  # behind the page's own code, anywhere in the file

_is_hatchet = re.compile(rb'\s*\[\s*\{(?=.*"frame")(?=.*"(children|metrics)")', re.DOTALL).match
_is_chrome = re.compile(rb'\s*(\{.*"traceEvents"|\[\s*\{(?=.*"ph"))', re.DOTALL).match
_is_csv = re.compile(rb"(row,parent,depth,kind,|start_ns,duration_ns,kind,)").match
_is_collapsed = re.compile(rb"[^\n]*[^\s] -?\d+(\.\d+)?\n").match
_is_ir = re.compile(rb"\s*(module|#|//|;|define |source_filename|target |tt\.func|\"builtin)").match

_RECOGNIZERS: dict[str, Callable[[bytes], object]] = {
    schema.HATCHET: _is_hatchet,
    schema.HATCHET_MSGPACK: lambda head: head[0] in _MSGPACK_LISTS and b"frame" in head,
    schema.CHROME_TRACE: _is_chrome,
    schema.PERFETTO: lambda head: is_perfetto(head) or is_cut_perfetto(head),
    "speedscope": lambda head: b"speedscope.app/file-format-schema" in head,
    "pprof": lambda head: head.startswith(b"\x1f\x8b"),
    "collapsed": _is_collapsed,
    "csv": _is_csv,
    "parquet": lambda head: head.startswith(b"PAR1"),
    IR: _is_ir,
}


def is_of_kind(path: str | os.PathLike[str], kind: str) -> bool:
    """Whether `path` is a file of this kind: a format of profiles or exports, PAGE or IR.

    A profile in one of Proton's formats counts as any of them. An empty file is of every kind.
    """
    try:
        if not os.path.getsize(path):
            return True
        if kind == PAGE:
            return _PAGE_MARK in Path(path).read_bytes()
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    kinds = schema.FORMATS if kind in schema.FORMATS else (kind,)
    return any(_RECOGNIZERS[each](head) for each in kinds)
