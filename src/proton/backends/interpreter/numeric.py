"""Floats that numpy lacks, computed right: bfloat16 (kept as uint16) and fp8 (kept as uint8).

Triton's interpreter keeps these types as bit patterns and does some arithmetic on the patterns
themselves, and drops bits where a GPU rounds to nearest even. Here they go by way of float32.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# name of Triton's type -> exponent bits, mantissa bits, exponent bias, whether it has infinities
_FP8_FORMATS = {
    "fp8e4nv": (4, 3, 7, False),
    "fp8e5": (5, 2, 15, True),
}

PACKED_FLOATS = frozenset({"bf16", *_FP8_FORMATS})


def unpack(bits: Array, type_name: str) -> Array:
    """Bit patterns of `type_name` as float32, exactly."""
    if type_name == "bf16":
        return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _fp8_values(type_name)[bits]


def pack(values: Array, type_name: str) -> Array:
    """Floats as bit patterns of `type_name`: to nearest, ties to even; fp8 saturates."""
    if type_name == "bf16":
        return _pack_bfloat16(np.asarray(values, dtype=np.float32))
    return _pack_fp8(np.asarray(values, dtype=np.float64), type_name)


def _pack_bfloat16(values: Array) -> Array:
    bits = values.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    # rounding a NaN up could make an infinity of it: keep it, quiet
    rounded = np.where(np.isnan(values), bits | np.uint32(0x00400000), rounded)
    return (rounded >> np.uint32(16)).astype(np.uint16)


def _pack_fp8(values: Array, type_name: str) -> Array:
    magnitudes = _fp8_magnitudes(type_name)
    middles = (magnitudes[:-1] + magnitudes[1:]) / 2
    size = np.abs(values)
    below = np.searchsorted(middles, size, side="left")
    above = np.searchsorted(middles, size, side="right")  # differs from below only at a tie
    code = np.where(below & 1, above, below).astype(np.uint8)
    code = np.where(np.isnan(values), np.uint8(0x7F), code)
    return np.where(np.signbit(values), code | np.uint8(0x80), code).astype(np.uint8)


@lru_cache(maxsize=len(_FP8_FORMATS))
def _fp8_magnitudes(type_name: str) -> Array:
    """The finite values that are not negative, by their code."""
    values = _fp8_values(type_name)[:128]
    return values[np.isfinite(values)].astype(np.float64)


@lru_cache(maxsize=len(_FP8_FORMATS))
def _fp8_values(type_name: str) -> Array:
    """The float32 value of each of the 256 codes."""
    exponent_bits, mantissa_bits, bias, has_infinity = _FP8_FORMATS[type_name]
    codes = np.arange(256)
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = codes & ((1 << mantissa_bits) - 1)
    fraction = mantissa / (1 << mantissa_bits)
    values = np.where(
        exponent == 0,
        np.ldexp(fraction, 1 - bias),
        np.ldexp(1 + fraction, exponent - bias),
    )
    top = exponent == (1 << exponent_bits) - 1
    if has_infinity:
        values = np.where(top & (mantissa == 0), np.inf, values)
        values = np.where(top & (mantissa != 0), np.nan, values)
    else:
        values = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, values)
    return np.where(codes & 0x80, -values, values).astype(np.float32)
