"""Msgpack bytes -> plain objects, fast and at any depth of nodes.

The `msgpack` package's C parser does the work, after a look over the whole input that proves every
declared length, so that memory stays in proportion to the file. Like JSON's it gives up on deep
nesting; then a loop of our own walks from node to node.
"""

from __future__ import annotations

from typing import Any

import msgpack

from proton.errors import CutShort, FormatError


class _UnreadableError(ValueError):
    """A value that a profile cannot hold; the text says which."""


def decode_msgpack(data: bytes, source: str) -> Any:
    """The value that `data` holds.

    Raises:
        CutShort: The data ends in the middle.
        FormatError: Malformed, bytes left over, invalid UTF-8, values of msgpack's extension types,
            keys that are no text.
    """
    try:
        try:
            size = _measure(data)
            value = msgpack.unpackb(data) if size == len(data) else None
        except msgpack.StackError:
            value, size = _decode_deep(data)
    except msgpack.OutOfData:
        raise CutShort(
            f"{source}: truncated: the file ends at byte {len(data)}, inside a value"
        ) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: text that is not UTF-8 ({error.reason})") from None
    except msgpack.FormatError:
        raise FormatError(
            f"{source}: malformed msgpack: a byte that msgpack does not use"
        ) from None
    except msgpack.StackError:
        raise FormatError(
            f"{source}: malformed msgpack: nested too deep outside of children"
        ) from None
    except (ValueError, TypeError) as error:
        raise FormatError(f"{source}: malformed msgpack: {_first_line(error)}") from None
    if size != len(data):
        raise FormatError(
            f"{source}: malformed msgpack: the profile ends at byte {size} of {len(data)}"
        )
    return value


def _measure(data: bytes) -> int:
    """How many bytes the first value takes; builds nothing, so a false length costs nothing."""
    unpacker = _unpacker(data)
    unpacker.skip()
    return int(unpacker.tell())


def _unpacker(data: bytes) -> Any:
    unpacker = msgpack.Unpacker(max_buffer_size=0)  # no limit: what is not there shows as such
    unpacker.feed(data)
    return unpacker


def _take(unpacker: Any, data: bytes) -> Any:
    """The next value, measured before it is built."""
    start = unpacker.tell()
    unpacker.skip()
    return msgpack.unpackb(data[start : unpacker.tell()])


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _is_list(first: int) -> bool:
    return 0x90 <= first <= 0x9F or first in (0xDC, 0xDD)


def _is_map(first: int) -> bool:
    return 0x80 <= first <= 0x8F or first in (0xDE, 0xDF)


def _decode_deep(data: bytes) -> tuple[Any, int]:
    """The first value and its size.

    Goes itself only into the outermost list, into maps in such lists, and into lists under
    `children`; every other value is the C parser's.
    """
    unpacker = _unpacker(data)
    if not data or not _is_list(data[0]):
        raise msgpack.StackError
    result: list[Any] = []
    container: Any = result
    left: int = unpacker.read_array_header()
    outer: list[tuple[Any, int]] = []
    while True:
        if left == 0:
            if not outer:
                return result, int(unpacker.tell())
            container, left = outer.pop()
            continue
        left -= 1
        in_list = type(container) is list
        key = None if in_list else _take(unpacker, data)
        if not (in_list or isinstance(key, str)):
            raise _UnreadableError("a key is no text")
        place = unpacker.tell()
        first = data[place] if place < len(data) else 0
        value: Any
        size = 0
        if in_list and _is_map(first):
            value, size = {}, unpacker.read_map_header()
        elif key == "children" and _is_list(first):
            value, size = [], unpacker.read_array_header()
        else:
            value = _take(unpacker, data)
        if in_list:
            container.append(value)
        else:
            container[key] = value
        if size:
            outer.append((container, left))
            container, left = value, size
