"""Peak rates of known devices, under the names that users of `triton.profiler` know."""

from __future__ import annotations

from proton.model.device import max_bps, max_flops

__all__ = ["max_bps", "max_flops"]
