"""What a value from a file is, and how a message shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from proton.files.encoding.schema import MAX_INT, MIN_INT
from proton.model.metric import EMPTY, Metrics, MetricValue


def short(value: object) -> str:
    """`value` for a message, on one line and not too long."""
    if type(value) in (dict, list):  # a repr of what may be deep would recurse
        return f"{'an object' if type(value) is dict else 'a list'}"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_text(value: object) -> TypeGuard[str]:
    """A str that UTF-8 can hold, which lone surrogates cannot."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_integer(value: object) -> TypeGuard[int]:
    """An integer of 64 bits, signed or not; a bool is none."""
    return type(value) is int and MIN_INT <= value <= MAX_INT


def is_number(value: object) -> TypeGuard[int | float]:
    """An integer as above, or a float that is neither NaN nor infinite."""
    return is_integer(value) or (type(value) is float and math.isfinite(value))


def is_plain(value: object) -> bool:
    """Only objects, lists, texts, finite numbers, bools and null, all the way down."""
    pending = [value]
    while pending:
        part = pending.pop()
        if type(part) is dict:
            if not all(map(is_text, part)):
                return False
            pending.extend(part.values())
        elif type(part) is list:
            pending.extend(part)
        elif not (part is None or type(part) is bool or is_number(part) or is_text(part)):
            return False
    return True


def read_attributes(found: Mapping[Any, Any]) -> Metrics:
    """Launch attributes from a file: numbers, texts and lists of numbers; the rest is left out."""
    attributes: dict[str, MetricValue] = {}
    for name, value in found.items():
        if not is_text(name) or not name:
            continue
        if type(value) is list and all(map(is_number, value)):
            attributes[name] = tuple(value)
        elif is_number(value) or is_text(value):
            attributes[name] = value
    return attributes or EMPTY
