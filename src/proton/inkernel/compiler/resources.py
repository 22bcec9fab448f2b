"""What a compiled kernel needs of a multiprocessor, with records and without. Needs no GPU.

Read from the binary, so that the two sides are counted alike: registers and spilled bytes of a
thread, shared memory of a CTA, and the warps that a multiprocessor holds at once.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from proton import _triton_compiler
from proton.inkernel.compiler import recording_choice as choice
from proton.inkernel.compiler.compile_hook import NotCachedError, read_records
from proton.inkernel.compiler.hardware import ctas_at_once, limits_of

REGISTER_COUNT = 0x2F  # attributes of a cubin's .nv.info
STACK_BYTES = 0x12
_WITH_VALUE = 4  # format of an attribute: its size, then its words

_AMD_COUNT = re.compile(r"^\s*\.(vgpr_count|vgpr_spill_count):\s+(\d+)", re.MULTILINE)


def resources_of(kernel: Any) -> dict[str, int]:
    """Registers, spills, shared and occupancy of a compiled kernel, as far as its binary says."""
    texts, metadata = kernel.asm, kernel.metadata
    found = {"shared": int(metadata.shared)}
    if isinstance(cubin := texts.get("cubin"), bytes):
        found |= _read_cubin(cubin)
    elif isinstance(text := texts.get("amdgcn"), str):
        counts = dict(_AMD_COUNT.findall(text))
        if "vgpr_count" in counts:
            found["registers"] = int(counts["vgpr_count"])
            found["spills"] = 4 * int(counts.get("vgpr_spill_count", 0))
        return found  # how many waves fit depends on more than this
    if "registers" in found:
        found["occupancy"] = _warps_at_once(metadata, found)
    return found


def plain_resources(kernel: Any, *, may_compile: bool = False) -> dict[str, int] | None:
    """The same of the kernel without records; None where it is not known.

    It is known where the plain kernel is in Triton's cache, while recording is on. Compiling it
    takes as long as ever: only where `may_compile`.
    """
    records = read_records(kernel.metadata)
    source = getattr(kernel, "src", None)
    if records is None or not hasattr(source, "fn"):
        return None
    if not may_compile and not choice.is_on():
        return None  # nobody would stop Triton from compiling it
    with choice.plainly(may_compile=may_compile):
        try:
            plain = _triton_compiler.compile_again(source, kernel.metadata.target, records.options)
        except NotCachedError:
            return None
    return resources_of(plain)


def _warps_at_once(metadata: Any, found: Mapping[str, int]) -> int:
    limits = limits_of(metadata.target.backend, metadata.target.arch)
    warps = int(metadata.num_warps)
    ctas = ctas_at_once(
        limits,
        shared_bytes=found["shared"],
        threads=warps * int(metadata.target.warp_size),
        registers=found["registers"],
    )
    return ctas * warps


def _read_cubin(cubin: bytes) -> dict[str, int]:
    """Registers and stack of the kernel; its functions that are called have no count."""
    attributes = list(_attributes(_section(cubin, b".nv.info")))
    counts = [words for attribute, words in attributes if attribute == REGISTER_COUNT]
    if len(counts) != 1 or len(counts[0]) != 2:
        return {}
    symbol, registers = counts[0]
    stacks = [
        words[1]
        for attribute, words in attributes
        if attribute == STACK_BYTES and len(words) == 2 and words[0] == symbol
    ]
    return {"registers": registers, "spills": max(stacks, default=0)}


def _attributes(data: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    at = 0
    while at + 4 <= len(data):
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind == _WITH_VALUE:
            words = data[at : at + size]
            yield attribute, struct.unpack(f"<{len(words) // 4}I", words[: len(words) // 4 * 4])
            at += size


def _section(elf: bytes, wanted: bytes) -> bytes:
    """A section of a 64-bit little-endian ELF file; empty where it is not there or cut off."""
    if elf[:6] != b"\x7fELF\x02\x01" or len(elf) < 64:
        return b""
    table, each, count, names_at = struct.unpack_from("<Q10xHHH", elf, 40)
    if table + each * count > len(elf) or names_at >= count or each < 64:
        return b""
    headers = [struct.unpack_from("<IIQQQQ", elf, table + each * at) for at in range(count)]
    names = elf[headers[names_at][4] :]
    for name, _, _, _, offset, size in headers:
        if names[name : name + len(wanted) + 1] == wanted + b"\0":
            return elf[offset : offset + size]
    return b""
