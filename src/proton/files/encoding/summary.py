"""The `proton` key and the device map: checked and as model types, and the other way."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_text, short
from proton.files.encoding.codec import Codec, FieldError, first_cyclic
from proton.model.device import Device
from proton.model.in_kernel import NO_PARENT, AccessSite, HeatMap, RecordedKernel, Value
from proton.model.profile import Profile
from proton.model.sampling import NO_LINE, Instruction, LineSamples, Sampling, SourceLine
from proton.model.schema import FORMAT_VERSION, to_object
from proton.model.steps import StepSeries
from proton.model.summary import Summary

_CODE_BYTES = 16  # of an instruction, on every GPU that can be sampled


def read_sampling(value: Any) -> Sampling:
    """The sampling in `value`.

    Raises:
        FieldError: Something in it is not as the format says.
    """
    if type(value) is not dict:
        raise FieldError.must_be("an object", value)
    rows = _Rows(_length(value.get("lines")), _length(value.get("reasons")))
    readers = {
        SourceLine: _read_lines,
        Instruction: rows.instructions,
        LineSamples: rows.line_samples,
    }
    return Codec(rows=readers).record(Sampling, value)


def _length(value: object) -> int:
    return len(value) if type(value) is list else 0


def _read_lines(values: Sequence[Any]) -> tuple[SourceLine, ...]:
    lines = []
    for number, entry in enumerate(values):
        at = f"[{number}]"
        if type(entry) is not list or len(entry) != len(SourceLine._fields):
            raise FieldError("must be a list of a file, a line, a function and a line", at)
        file, line, function, parent = entry
        if not is_text(file) or not is_text(function):
            raise FieldError("must name a file and a function", at)
        if not is_integer(line) or line < 0:
            raise FieldError(f"must have a line number, not {short(line)}", at)
        _check_line(parent, len(values), at)
        lines.append(SourceLine(file, line, function, parent))
    cyclic = first_cyclic([line.parent for line in lines], NO_LINE)
    if cyclic is not None:
        raise FieldError("is inlined into itself", f"[{cyclic}]")
    return tuple(lines)


def _check_line(line: object, line_count: int, at: str = "", *, up: int = 0) -> None:
    if not is_integer(line) or not NO_LINE <= line < line_count:
        what = f"must name one of {line_count} lines or -1, not {short(line)}"
        raise FieldError(what, at, up=up)


class _Rows:
    """Reads the rows of a kernel; there are many, so a message names the kernel."""

    def __init__(self, line_count: int, reason_count: int) -> None:
        self._line_count = line_count
        self._reason_count = reason_count

    def instructions(self, values: Sequence[Any]) -> tuple[Instruction, ...]:
        return tuple(map(self._instruction, values))

    def line_samples(self, values: Sequence[Any]) -> tuple[LineSamples, ...]:
        return tuple(map(self._line_samples, values))

    def _instruction(self, entry: object) -> Instruction:
        if type(entry) is not list or len(entry) != len(Instruction._fields):
            raise _must_have("instructions of an offset, a code, a line, counts and reasons")
        offset, code, line, samples, latency, reasons = entry
        if not is_integer(offset) or offset < 0:
            raise _must_have(f"instructions with an offset in bytes, not {short(offset)}")
        _check_line(line, self._line_count, up=1)
        counts = _counts(samples, latency)
        return Instruction(offset, _code(code), line, *counts, self._reasons(reasons))

    def _line_samples(self, entry: object) -> LineSamples:
        if type(entry) is not list or len(entry) != len(LineSamples._fields):
            raise _must_have("line_samples of a line, counts and reasons")
        line, samples, latency, reasons = entry
        _check_line(line, self._line_count, up=1)
        return LineSamples(line, *_counts(samples, latency), self._reasons(reasons))

    def _reasons(self, value: object) -> Mapping[int, int]:
        if type(value) is not dict:
            raise _must_have(f"reasons that are an object, not {short(value)}")
        reasons = {}
        for key, count in value.items():
            is_number = type(key) is str and key.isascii() and key.isdigit() and len(key) < 10
            if not is_number or int(key) >= self._reason_count:
                raise _must_have(f"one of {self._reason_count} reasons, not {short(key)}")
            if not is_integer(count) or count < 0:
                raise _must_have(f"counts that are zero or more, not {short(count)}")
            reasons[int(key)] = count
        return MappingProxyType(reasons)


def _counts(samples: object, latency: object) -> tuple[int, int]:
    if not is_integer(samples) or not is_integer(latency) or min(samples, latency) < 0:
        raise _must_have("counts of samples that are zero or more")
    return samples, latency


def _code(value: object) -> bytes:
    if value is None or value == "":
        return b""
    try:
        code = b64decode(value, validate=True) if is_text(value) else b""
    except ValueError:
        code = b""
    if not 0 < len(code) <= _CODE_BYTES:
        raise _must_have(f"codes of at most 16 bytes as base64, not {short(value)}")
    return code


def _must_have(wanted: str) -> FieldError:
    return FieldError(f"must have {wanted}", up=1)


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


def _check_steps(series: StepSeries) -> None:
    size = len(series.duration_ns)
    for name in ("start_ns", "names", "gpu_time_ns"):
        values = getattr(series, name)
        is_left_out = not values and name != "start_ns"
        if len(values) != size and not is_left_out:
            wanted = f"a list of {size}, as many as duration_ns"
            raise FieldError.must_be(wanted, list(values), f".{name}")


CHECKS: Mapping[type, Callable[[Any], Any]] = {
    RecordedKernel: _check_kernel,
    Value: _check_value,
    AccessSite: _check_site,
    HeatMap: _check_heat,
    StepSeries: _check_steps,
}


_CODEC = Codec(checks=CHECKS, readers={Sampling: read_sampling})


def read_summary(value: object, source: str) -> Summary:
    """The summary in `value`, that of the `proton` key, or None without that key.

    Raises:
        FormatError: Something in it is not as the format says; one line that names the place.
    """
    version = value.get("format") if type(value) is dict else None
    if is_integer(version) and version > FORMAT_VERSION:
        raise FormatError(
            f"{source}: format {version} is newer than this Proton reads "
            f"({FORMAT_VERSION}); install a newer proton-profiler"
        )
    summary = _CODEC.read(Summary, {} if value is None else value, source, "proton")
    own = summary.phases or (0,) if summary.phase is None else (summary.phase,)
    devices = () if summary.device_map is None else read_devices(summary.device_map, source)
    return replace(summary, phases=own, devices=devices)


# What a profile and its summary both have, under one name.
_SHARED = {each.name for each in fields(Profile)} & {each.name for each in fields(Summary)}


def to_profile(summary: Summary, source: str) -> Profile:
    """What `summary` says of a recording, still without its events."""
    return Profile(source, **{name: getattr(summary, name) for name in _SHARED})


def read_devices(value: object, source: str) -> tuple[Device, ...]:
    """The devices of a device map: device type -> device id -> attributes.

    Raises:
        FormatError: Something in it is not as the format says; one line that names the place.
    """
    if type(value) is not dict:
        raise FormatError(f"{source}: the device map must be an object, not {short(value)}")
    devices = []
    for device_type, by_id in value.items():
        if not is_text(device_type) or type(by_id) is not dict:
            raise FormatError(f"{source}: device type {short(device_type)} must hold an object")
        for device_id, attributes in by_id.items():
            if not is_text(device_id) or type(attributes) is not dict:
                raise FormatError(f"{source}: device {short(device_id)} must be an object")
            place = f"device {short(device_type)} {short(device_id)}"
            if is_integer(arch := attributes.get("arch")):  # Triton's proton writes numbers
                attributes = attributes | {"arch": str(arch)}
            known = {"device_type": device_type, "device_id": device_id}
            devices.append(_CODEC.read(Device, attributes, source, place, **known))
    return tuple(devices)


def device_map(profile: Profile) -> dict[str, dict[str, Any]]:
    """The devices of `profile` as they stand in a file; what is not known is left out."""
    devices: dict[str, dict[str, Any]] = {}
    for device in profile.devices:
        devices.setdefault(device.device_type, {})[device.device_id] = to_object(device)
    return devices


def summary_object(profile: Profile) -> dict[str, Any]:
    """What `profile` says of the recording as a whole, as the value of a `proton` key."""
    summary = Summary(**{name: getattr(profile, name) for name in _SHARED})
    return to_object(replace(summary, phases=()) if tuple(profile.phases) == (0,) else summary)


def trace_summary(profile: Profile) -> dict[str, Any]:
    """The same for a trace, which has its devices there."""
    summary = summary_object(profile)
    return summary | {"devices": device_map(profile)} if profile.devices else summary
