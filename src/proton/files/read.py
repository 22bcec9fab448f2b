"""Bytes -> Profile. The one place that trusts nothing: past it, a profile is well formed."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from proton.errors import CutShort, FormatError
from proton.files.encoding.checks import short
from proton.files.encoding.decode_json import decode_json
from proton.files.encoding.decode_msgpack import decode_msgpack
from proton.files.encoding.schema import PROTON_KEY
from proton.files.encoding.summary import read_devices, read_summary, to_profile
from proton.files.hatchet.details import read_details, read_entries
from proton.files.hatchet.frames import is_kinds
from proton.files.hatchet.tree import read_tree
from proton.files.journal.format import is_journal
from proton.files.journal.read import read_journal
from proton.files.perfetto.read import is_cut_perfetto, is_perfetto, read_perfetto
from proton.files.trace.columns import read_columns, read_large
from proton.files.trace.read import TraceFile, is_trace, read_trace
from proton.model.frame import FrameKind
from proton.model.metric import (
    COUNT,
    CPU_TIME_NS,
    DEVICE_TYPE,
    TIME_NS,
    MetricKind,
    Metrics,
    apart_from_backend,
)
from proton.model.profile import Profile
from proton.model.tree import Tree

# Compressed files, by their first bytes: said by name, because the remedy is simple.
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_MSGPACK_LISTS = (0x91, 0x92, 0xDC, 0xDD)
_COMPRESSED[b"PK\x03\x04"] = "zip"
_MEASURED = (FrameKind.ROOT, FrameKind.KERNEL, FrameKind.COPY, FrameKind.SAMPLE)
_GIVEN = frozenset(FrameKind) - frozenset(_MEASURED)  # frames with metrics of users
_FOREIGN_KINDS = MappingProxyType({CPU_TIME_NS: MetricKind.EXCLUSIVE})


def read_profile(data: bytes, source: str) -> Profile:
    """The profile that `data` holds, in any format that Proton reads.

    Args:
        data: The whole content of a file.
        source: Its path: the start of every message, and `Profile.source`.

    Raises:
        CutShort: It ends in the middle.
        FormatError: It is not a profile; one line that names the place.
    """
    head = data[:64].lstrip(b" \t\r\n\xef\xbb\xbf")[:1]
    if not data.strip():
        raise CutShort(f"{source}: not a profile: the file is empty")
    if is_journal(data):
        return read_journal(data, source, read_profile)
    if head in (b"[", b"{") and not is_perfetto(data):
        return _read_json(data, source)
    if is_perfetto(data):
        return _with_trace(read_perfetto(data, source), source)
    if data[0] in _MSGPACK_LISTS:
        root, devices = _split(decode_msgpack(data, source), source)
        return _read_hatchet(root, devices, source, doubt=False)
    if is_cut_perfetto(data):
        raise CutShort(f"{source}: truncated: the file ends at byte {len(data)}, inside a packet")
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            raise FormatError(f"{source}: compressed with {name}; unpack it first")
    raise FormatError(
        f"{source}: not a profile: starts with {_shown(data[:8])}, which is none of hatchet JSON, "
        "hatchet msgpack, chrome trace and Perfetto trace"
    )


def _shown(beginning: bytes) -> str:
    """The first bytes of a file as text where they are some, else as numbers."""
    text = beginning.decode("ascii", "replace")
    if text.isascii() and text.isprintable():
        return f"'{text}'"
    return f"the bytes {beginning.hex(' ')}"


def read_large_profile(path: str, source: str) -> Profile | None:
    """The profile in a large file, of which no copy is made; None where `read_profile` has to.

    Raises:
        OSError: The file cannot be read.
    """
    trace = read_large(path, source)
    return None if trace is None else _with_trace(trace, source)


def _read_json(data: bytes, source: str) -> Profile:
    if (trace := read_columns(data, source)) is not None:
        return _with_trace(trace, source)
    value = decode_json(data, source)
    if is_trace(value):
        return _with_trace(read_trace(value, source), source)
    root, devices = _split(value, source)
    doubt = b"\\" in data and (b"\\ud" in data or b"\\uD" in data)  # one byte is found fastest
    return _read_hatchet(root, devices, source, doubt=doubt)


def _split(value: Any, source: str) -> tuple[dict[str, Any], Any]:
    """The root node and the device map of a hatchet file."""
    if type(value) is not list:
        raise FormatError(
            f"{source}: not a profile: {short(value)}, neither a list of root node and device map "
            "nor an object with traceEvents"
        )
    if not 1 <= len(value) <= 2 or type(value[0]) is not dict:
        raise FormatError(
            f"{source}: not a profile: a list of {len(value)}, not of root node and device map"
        )
    return value[0], value[1] if len(value) == 2 else {}


def _read_hatchet(root: dict[str, Any], devices: Any, source: str, *, doubt: bool) -> Profile:
    summary = read_summary(root.get(PROTON_KEY), source)
    tree, metric_names = read_tree(root, summary.kinds, source, doubt=doubt)
    if summary.kernels is not None:
        tree = replace(tree, details=read_details(summary.kernels, len(tree), source))
    if summary.entries is not None:
        tree = replace(tree, entries=read_entries(summary.entries, len(tree), source))
    if PROTON_KEY not in root and CPU_TIME_NS in metric_names:
        summary = replace(summary, metric_kinds=_FOREIGN_KINDS)
    warnings = summary.warnings
    if summary.kinds is not None and not is_kinds(summary.kinds, len(tree)):
        tree = replace(tree, details={}, entries={})  # somebody changed the nodes: rows mean others
        text = f"kinds of frames inferred: {len(summary.kinds)} are given for {len(tree)} nodes"
        warnings = (*warnings, text)
    # A file of somebody else's in which no row has a device may have measured them in any.
    has_rows_of_devices = PROTON_KEY in root or DEVICE_TYPE in metric_names
    if has_rows_of_devices and not metric_names.isdisjoint((COUNT, TIME_NS)):
        tree = replace(tree, own=_apart(tree))
        summary = replace(summary, metric_kinds=apart_from_backend(summary.metric_kinds))
    summary = replace(summary, devices=read_devices(devices, source), warnings=warnings)
    return to_profile(summary, source).with_tree(tree)


def _apart(tree: Tree) -> list[Metrics]:
    """The metrics of `tree` where only rows of a device have what a backend measures."""
    return [
        apart_from_backend(own) if frame.kind in _GIVEN and DEVICE_TYPE not in own else own
        for frame, own in zip(tree.frames, tree.own, strict=True)
    ]


def _with_trace(file: TraceFile, source: str) -> Profile:
    summary = read_summary(file.summary, source)
    summary = replace(summary, warnings=(*summary.warnings, *file.warnings))
    return to_profile(summary, source).with_trace(file.trace)
