"""The `sampling` of a `proton` key: what instruction sampling saw, both ways."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from proton.errors import FormatError
from proton.files.checks import is_integer, is_text, short
from proton.files.fields import Fields
from proton.model.sampling import (
    NO_LINE,
    Instruction,
    LineSamples,
    SampledKernel,
    Sampling,
    SourceFile,
    SourceLine,
)

_CODE_BYTES = 16  # of an instruction, on every GPU that can be sampled


def read_sampling(found: object, source: str) -> Sampling | None:
    """The sampling in `found`; None where the file has none.

    Raises:
        FormatError: Something in it is not as the format says.
    """
    if found is None:
        return None
    if type(found) is not dict:
        raise FormatError(f"{source}: proton.sampling must be an object, not {short(found)}")
    fields = Fields(source, "proton.sampling", found)
    lines = _read_lines(fields, source)
    reasons = fields.texts("reasons")
    return Sampling(
        period_cycles=_count(fields, "period_cycles"),
        window_ns=_count(fields, "window_ns"),
        every_ns=_count(fields, "every_ns"),
        reasons=reasons,
        samples=_count(fields, "samples"),
        dropped=_count(fields, "dropped"),
        non_user=_count(fields, "non_user"),
        overflows=_count(fields, "overflows"),
        left_out=_count(fields, "left_out"),
        is_split=_claim(fields, found, "is_split"),
        kernels=tuple(
            _KernelReader(f"{source}: proton.sampling.kernels[{number}]", len(lines), len(reasons))
            .read(kernel, source)
            for number, kernel in enumerate(fields.listed("kernels", "a list of objects"))
        ),
        lines=lines,
        files=MappingProxyType(_read_files(fields, source)),
    )  # fmt: skip


def _count(fields: Fields, key: str) -> int | None:
    value = fields.integer(key)
    if value is not None and value < 0:
        raise fields.wrong(key, "zero or more")
    return value


def _claim(fields: Fields, found: Mapping[str, Any], key: str) -> bool:
    value = found.get(key)
    if value is not None and type(value) is not bool:
        raise fields.wrong(key, "true or false")
    return bool(value)


def _read_lines(fields: Fields, source: str) -> tuple[SourceLine, ...]:
    found = fields.listed("lines", "a list of lines")
    lines = []
    for number, entry in enumerate(found):
        place = f"{source}: proton.sampling.lines[{number}]"
        if type(entry) is not list or len(entry) != len(SourceLine._fields):
            raise FormatError(f"{place} must be a list of a file, a line, a function and a line")
        file, line, function, parent = entry
        if not is_text(file) or not is_text(function):
            raise FormatError(f"{place} must name a file and a function")
        if not is_integer(line) or line < 0:
            raise FormatError(f"{place} must have a line number, not {short(line)}")
        _check_line(parent, len(found), place)
        lines.append(SourceLine(file, line, function, parent))
    _check_stacks(lines, source)
    return tuple(lines)


def _check_stacks(lines: Sequence[SourceLine], source: str) -> None:
    """No line is inlined into itself, however far up."""
    is_sound = bytearray(len(lines))
    for number in range(len(lines)):
        path: list[int] = []
        at = number
        while at != NO_LINE and not is_sound[at]:
            if len(path) > len(lines):
                raise FormatError(
                    f"{source}: proton.sampling.lines[{number}] is inlined into itself"
                )
            path.append(at)
            at = lines[at].parent
        for sound in path:
            is_sound[sound] = 1


def _check_line(line: object, line_count: int, place: str) -> None:
    if not is_integer(line) or not NO_LINE <= line < line_count:
        raise FormatError(f"{place} must name one of {line_count} lines or -1, not {short(line)}")


def _read_files(fields: Fields, source: str) -> dict[str, SourceFile]:
    files = {}
    for path, found in fields.mapping("files").items():
        place = f"proton.sampling.files[{short(path)}]"
        if type(found) is not dict:
            raise FormatError(f"{source}: {place} must be an object, not {short(found)}")
        file = Fields(source, place, found)
        files[path] = SourceFile(file.text("sha256"), _count(file, "size"))
    return files


class _KernelReader:
    """Reads one kernel; `place` is the start of every message."""

    def __init__(self, place: str, line_count: int, reason_count: int) -> None:
        self._place = place
        self._line_count = line_count
        self._reason_count = reason_count

    def read(self, found: object, source: str) -> SampledKernel:
        if type(found) is not dict:
            raise FormatError(f"{self._place} must be an object, not {short(found)}")
        fields = Fields(source, self._place.removeprefix(f"{source}: "), found)
        return SampledKernel(
            symbol=fields.text("symbol"),
            device_id=_count(fields, "device_id"),
            arch=_count(fields, "arch"),
            module=fields.text("module"),
            samples=_count(fields, "samples") or 0,
            contexts=_count(fields, "contexts"),
            lines=fields.text("lines"),
            instructions=tuple(map(self._instruction, fields.listed("instructions", "a list"))),
            other_samples=_count(fields, "other_samples") or 0,
            line_samples=tuple(map(self._line_samples, fields.listed("line_samples", "a list"))),
        )

    def _instruction(self, entry: object) -> Instruction:
        if type(entry) is not list or len(entry) != len(Instruction._fields):
            raise self._wrong("instructions of an offset, a code, a line, counts and reasons")
        offset, code, line, samples, latency, reasons = entry
        if not is_integer(offset) or offset < 0:
            raise self._wrong(f"instructions with an offset in bytes, not {short(offset)}")
        _check_line(line, self._line_count, self._place)
        counts = self._counts(samples, latency)
        return Instruction(offset, self._code(code), line, *counts, self._reasons(reasons))

    def _line_samples(self, entry: object) -> LineSamples:
        if type(entry) is not list or len(entry) != len(LineSamples._fields):
            raise self._wrong("line_samples of a line, counts and reasons")
        line, samples, latency, reasons = entry
        _check_line(line, self._line_count, self._place)
        return LineSamples(line, *self._counts(samples, latency), self._reasons(reasons))

    def _counts(self, samples: object, latency: object) -> tuple[int, int]:
        if not is_integer(samples) or not is_integer(latency) or min(samples, latency) < 0:
            raise self._wrong("counts of samples that are zero or more")
        return samples, latency

    def _code(self, found: object) -> bytes:
        if found is None or found == "":
            return b""
        try:
            code = b64decode(found, validate=True) if is_text(found) else b""
        except ValueError:
            code = b""
        if not 0 < len(code) <= _CODE_BYTES:
            raise self._wrong(f"codes of at most 16 bytes as base64, not {short(found)}")
        return code

    def _reasons(self, found: object) -> Mapping[int, int]:
        if type(found) is not dict:
            raise self._wrong(f"reasons that are an object, not {short(found)}")
        reasons = {}
        for key, count in found.items():
            is_number = type(key) is str and key.isascii() and key.isdigit() and len(key) < 10
            if not is_number or int(key) >= self._reason_count:
                raise self._wrong(f"one of {self._reason_count} reasons, not {short(key)}")
            if not is_integer(count) or count < 0:
                raise self._wrong(f"counts that are zero or more, not {short(count)}")
            reasons[int(key)] = count
        return MappingProxyType(reasons)

    def _wrong(self, wanted: str) -> FormatError:
        return FormatError(f"{self._place} must have {wanted}")


def sampling_object(sampling: Sampling) -> dict[str, Any]:
    """`sampling` as it stands in a file; what is not known is left out."""
    fields: dict[str, Any] = {
        "period_cycles": sampling.period_cycles,
        "window_ns": sampling.window_ns,
        "every_ns": sampling.every_ns,
        "reasons": list(sampling.reasons) or None,
        "samples": sampling.samples,
        "dropped": sampling.dropped,
        "non_user": sampling.non_user,
        "overflows": sampling.overflows,
        "left_out": sampling.left_out,
        "is_split": sampling.is_split or None,
        "kernels": [_kernel_object(kernel) for kernel in sampling.kernels] or None,
        "lines": [list(line) for line in sampling.lines] or None,
        "files": {path: _known(file._asdict()) for path, file in sampling.files.items()} or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _kernel_object(kernel: SampledKernel) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "symbol": kernel.symbol,
        "device_id": kernel.device_id,
        "arch": kernel.arch,
        "module": kernel.module,
        "samples": kernel.samples,
        "contexts": kernel.contexts,
        "lines": kernel.lines,
        "instructions": [
            [one.offset, b64encode(one.code).decode(), one.line, one.samples, one.latency,
             _reasons_object(one.reasons)]
            for one in kernel.instructions
        ] or None,
        "other_samples": kernel.other_samples or None,
        "line_samples": [
            [total.line, total.samples, total.latency, _reasons_object(total.reasons)]
            for total in kernel.line_samples
        ] or None,
    }  # fmt: skip
    return _known(fields)


def _reasons_object(reasons: Mapping[int, int]) -> dict[str, int]:
    """Keys of JSON are texts, and so are those of msgpack here."""
    return {str(number): count for number, count in reasons.items()}


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, "")}
