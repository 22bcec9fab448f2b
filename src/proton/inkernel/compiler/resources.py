"""What a compiled kernel needs of a multiprocessor, and what GPUs have. Needs no GPU.

Read from the binary, so that kernels with records and without are counted alike: registers and
spilled bytes of a thread, shared memory of a CTA, and the warps that a multiprocessor holds at
once.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from proton import _native
from proton._triton.types import CompiledKernel, KernelMetadata

_KIB = 1024
_REGISTERS = 65536  # of a multiprocessor of NVIDIA's
REGISTER_COUNT = 0x2F  # attributes of a cubin's .nv.info
STACK_BYTES = 0x12
_WITH_VALUE = 4  # format of an attribute: its size, then its words
_AMD_COUNT = re.compile(r"^\s*\.(vgpr_count|vgpr_spill_count):\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Limits:
    """What one multiprocessor has; sizes in bytes."""

    cta_shared: int  # that one CTA may have
    shared: int  # that all CTAs on it have
    cta_reserved: int  # that each CTA takes besides its own
    threads: int
    ctas: int


_NVIDIA = {
    (8, 0): Limits(163 * _KIB, 164 * _KIB, _KIB, 2048, 32),
    (8, 7): Limits(163 * _KIB, 164 * _KIB, _KIB, 1536, 16),
    (9, 0): Limits(227 * _KIB, 228 * _KIB, _KIB, 2048, 32),
    (10, 0): Limits(227 * _KIB, 228 * _KIB, _KIB, 2048, 32),
    (10, 3): Limits(227 * _KIB, 228 * _KIB, _KIB, 2048, 32),
    (11, 0): Limits(227 * _KIB, 228 * _KIB, _KIB, 1536, 24),
}
# 8.6, 8.9, 12.0, and what is not known: the least that these have
_NVIDIA_LEAST = Limits(99 * _KIB, 100 * _KIB, _KIB, 1536, 16)
_AMD = {"gfx950": Limits(160 * _KIB, 160 * _KIB, 0, 2048, 16)}
_AMD_LEAST = Limits(64 * _KIB, 64 * _KIB, 0, 2048, 16)


def limits_of(backend: str, arch: object) -> Limits:
    """What a target has: ("cuda", 90) or ("hip", "gfx942"). An unknown one has what all have."""
    if backend == "hip":
        return _AMD.get(str(arch).partition(":")[0], _AMD_LEAST)
    number = int(str(arch)) if str(arch).isdecimal() else 0
    return _NVIDIA.get(divmod(number, 10), _NVIDIA_LEAST)


def ctas_at_once(limits: Limits, *, shared_bytes: int, threads: int, registers: int = 0) -> int:
    """How many CTAs fit on a multiprocessor; `registers` of a thread count on NVIDIA's, 0: not."""
    by_shared = limits.shared // (shared_bytes + limits.cta_reserved or 1)
    by_threads = limits.threads // max(threads, 1)
    return min(by_shared, by_threads, limits.ctas, _by_registers(threads, registers))


def _by_registers(threads: int, registers: int) -> int:
    """Each of four schedulers has a quarter of the registers and hands them to warps by 256."""
    if registers == 0 or threads == 0:
        return 1 << 30
    of_warp = -(-registers * 32 // 256) * 256
    warps = 4 * (_REGISTERS // 4 // of_warp)
    return warps // -(-threads // 32)


def resources_of(kernel: CompiledKernel) -> dict[str, int]:
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


def _warps_at_once(metadata: KernelMetadata, found: Mapping[str, int]) -> int:
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
    attributes = list(_attributes(_native.cubin_section(cubin, ".nv.info")))
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
