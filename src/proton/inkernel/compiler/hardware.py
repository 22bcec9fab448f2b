"""What GPUs have of shared memory and threads, for compiling with none at hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Of one multiprocessor; sizes in bytes."""

    cta_shared: int  # that one CTA may have
    shared: int  # that all CTAs on it have
    cta_reserved: int  # that each CTA takes besides its own
    threads: int
    ctas: int


_KIB = 1024
_REGISTERS = 65536  # of a multiprocessor of NVIDIA's
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
