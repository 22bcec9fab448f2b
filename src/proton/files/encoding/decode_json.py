"""JSON bytes -> plain objects, fast and at any depth of nodes.

The standard library's C parser does the work. It gives up on deep nesting, and a deep recursion is
a valid profile: then a loop of our own walks from node to node and leaves what stands inside a
node to the same C parser.
"""

from __future__ import annotations

import json
import re
from json import JSONDecoder
from typing import Any, NoReturn

from proton.errors import CutShort, FormatError

_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_SPACE = re.compile(r"[ \t\n\r]*").match
_UNFINISHED = re.compile(r"[0-9.eE+-]*$|\\?u?[0-9a-fA-F]{0,4}$").match  # a number, an escape


class _ConstantError(ValueError):
    """NaN or an infinity was written as a number."""


def _refuse_constant(text: str) -> NoReturn:
    raise _ConstantError(text)


def decode_json(data: bytes, source: str) -> Any:
    """The value that `data` holds.

    Args:
        data: UTF-8 text, with or without a byte order mark.
        source: The path, for messages.

    Raises:
        CutShort: The text ends in the middle.
        FormatError: Malformed (with the byte), not UTF-8, NaN, nested too deep.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: not a profile: invalid UTF-8 at byte {error.start}") from None
    decoder = JSONDecoder(parse_constant=_refuse_constant)
    try:
        try:
            return decoder.decode(text)
        except RecursionError:
            return _decode_deep(text, decoder)
    except json.JSONDecodeError as error:
        raise _explain(error, text, source) from None
    except RecursionError:
        raise FormatError(f"{source}: not a profile: nested too deep outside of children") from None
    except _ConstantError as error:
        raise FormatError(f"{source}: {error} is not a number that JSON allows") from None
    except ValueError:  # the interpreter's limit on the digits of an integer
        raise FormatError(f"{source}: an integer has too many digits") from None


def _explain(error: json.JSONDecodeError, text: str, source: str) -> FormatError:
    """The error that says at which byte the text stops being JSON, and whether it was cut off."""
    rest = text[error.pos :].rstrip()
    is_cut = (
        not rest
        or error.msg.startswith("Unterminated string")
        or any(literal.startswith(rest) for literal in _LITERALS)
        or _UNFINISHED(rest) is not None
    )
    if is_cut:
        size = len(text.encode("utf-8", "surrogatepass"))
        return CutShort(f"{source}: truncated: the file ends at byte {size}, inside a value")
    position = len(text[: error.pos].encode("utf-8", "surrogatepass"))
    reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return FormatError(f"{source}: malformed JSON at byte {position}: {reason}")


def _decode_deep(text: str, decoder: JSONDecoder) -> Any:
    """Like `decoder.decode`, with a list of open containers in place of the C stack.

    Goes itself only into the outermost list, into objects in such lists, and into lists called
    `children`; every other value is the C parser's.
    """
    result: list[Any] = []
    container: Any = result
    outer: list[Any] = []
    needs_comma = False
    position, mark = _next(text, 0)
    if mark != "[":
        raise RecursionError
    position += 1
    while True:
        position, mark = _next(text, position)
        in_list = type(container) is list
        if mark == ("]" if in_list else "}"):
            position += 1
            if not outer:
                break
            container = outer.pop()
            needs_comma = True
            continue
        if needs_comma:
            position = _expect(text, position, ",")
            position, mark = _next(text, position)
        key = ""
        if not in_list:
            key, position = _scan_key(text, position, decoder)
            position, mark = _next(text, position)
        opens = mark == "{" if in_list else mark == "[" and key == "children"
        value: Any
        if opens:
            value = {} if in_list else []
            position += 1
        else:
            value, position = decoder.raw_decode(text, position)
        if in_list:
            container.append(value)
        else:
            container[key] = value
        if opens:
            outer.append(container)
            container = value
        needs_comma = not opens
    position, mark = _next(text, position)
    if mark:
        raise json.JSONDecodeError("Extra data", text, position)
    return result


def _next(text: str, position: int) -> tuple[int, str]:
    """The next place that is no white space, and the character there (`""` at the end)."""
    found = _SPACE(text, position)
    assert found is not None  # the pattern matches nothing too
    position = found.end()
    return position, text[position : position + 1]


def _expect(text: str, position: int, mark: str) -> int:
    if not text.startswith(mark, position):
        raise json.JSONDecodeError(f"Expecting {mark!r} delimiter", text, position)
    return position + 1


def _scan_key(text: str, position: int, decoder: JSONDecoder) -> tuple[str, int]:
    """A key and the place after its colon."""
    if not text.startswith('"', position):
        reason = "Expecting property name enclosed in double quotes"
        raise json.JSONDecodeError(reason, text, position)
    key, position = decoder.raw_decode(text, position)
    return key, _expect(text, _next(text, position)[0], ":")
