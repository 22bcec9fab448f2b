"""The `sampling` of a `proton` key: its rows, which have words of their own for what is wrong."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from proton.files.encoding.checks import is_integer, is_text, short
from proton.files.encoding.codec import Codec, FieldError, first_cyclic
from proton.model.sampling import NO_LINE, Instruction, LineSamples, Sampling, SourceLine

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
