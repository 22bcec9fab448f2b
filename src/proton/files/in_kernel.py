"""The `in_kernel` of a `proton` key: what the fields of its records must be to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from proton.files.encoding.codec import FieldError, first_cyclic
from proton.model.in_kernel import NO_PARENT, AccessSite, HeatMap, RecordedKernel, Value


def _check_kernel(kernel: RecordedKernel) -> RecordedKernel:
    """Every parent is there, and no region lies in itself, however far up."""
    size = len(kernel.regions)
    for number, region in enumerate(kernel.regions):
        if not NO_PARENT <= region.parent < size:
            wanted = f"one of {size} regions or -1"
            raise FieldError.must_be(wanted, region.parent, f".regions[{number}].parent")
    cyclic = first_cyclic([region.parent for region in kernel.regions], NO_PARENT)
    if cyclic is not None:
        raise FieldError("lies in itself", f".regions[{cyclic}]")
    return kernel if kernel.clock_ghz else replace(kernel, clock_ghz=None)


def _check_value(value: Value) -> None:
    if value.not_finite > value.count:
        wanted = f"at most the count of {value.count}"
        raise FieldError.must_be(wanted, value.not_finite, ".not_finite")


def _check_site(site: AccessSite) -> None:
    if site.first_of < len(site.first):
        wanted = f"at least the {len(site.first)} in first"
        raise FieldError.must_be(wanted, site.first_of, ".first_of")


def _check_heat(heat: HeatMap) -> None:
    if heat.bins and not heat.bin_bytes:
        raise FieldError.must_be("one or more where there are bins", 0, ".bin_bytes")
    if len(heat.byte_bins) not in (0, len(heat.bins)):
        wanted = f"a list of {len(heat.bins)} counts, as many as bins"
        raise FieldError.must_be(wanted, list(heat.byte_bins), ".byte_bins")


CHECKS: Mapping[type, Callable[[Any], Any]] = {
    RecordedKernel: _check_kernel,
    Value: _check_value,
    AccessSite: _check_site,
    HeatMap: _check_heat,
}
