"""The fields of one event of a chrome trace, checked."""

from __future__ import annotations

import json
from typing import Any

from proton.files.encoding.checks import is_integer, is_number, is_text, read_attributes, short
from proton.files.trace.lanes import Row
from proton.model.metric import DEVICE_ID, DEVICE_TYPE, EMPTY, Metrics, MetricValue

_MAX_TIME_US = 1e16  # 300 years
_KNOWN_ARGUMENTS = {"call_stack", "scope_id", "metrics"}


class EventError(ValueError):
    """What is wrong with an event, as the end of a sentence."""


def row_of(event: dict[str, Any]) -> Row:
    """The row the event stands on; process and thread 0 where it does not say."""
    return Row(_id(event, "pid"), _id(event, "tid"))


def _id(event: dict[str, Any], key: str) -> int | str:
    value: object = event.get(key, 0)
    if is_integer(value) or is_text(value):
        return value
    raise EventError(f"has a {key} that is neither integer nor text but {short(value)}")


def plain_of(event: dict[str, Any], key: str) -> object:
    """The field if it is an integer or text, else None."""
    value = event.get(key)
    return value if is_integer(value) or is_text(value) else None


def pair_key(event: dict[str, Any]) -> object:
    """What a begin and its end have in common."""
    if event["ph"] in "BE":
        return row_of(event)
    return tuple(plain_of(event, key) for key in ("pid", "cat", "id", "name"))


def time_of(event: dict[str, Any], key: str, default: float | None = None) -> float:
    """The field as a time in microseconds."""
    value: object = event.get(key, default)
    if is_number(value) and -_MAX_TIME_US <= value <= _MAX_TIME_US:
        return value
    raise EventError(f"has a {key} that is not a time in microseconds but {short(value)}")


def metrics_of(args: dict[str, Any]) -> Metrics:
    """The metrics among the arguments of an event."""
    found = args.get("metrics")
    if found is None or found == {}:
        return EMPTY
    if type(found) is not dict:
        raise EventError(f"has metrics that are not an object but {short(found)}")
    return {name: _metric(name, value) for name, value in found.items()}


def attributes_of(args: dict[str, Any]) -> Metrics:
    """The launch attributes among the arguments of an event that we wrote."""
    if args.keys() <= _KNOWN_ARGUMENTS:
        return EMPTY
    found = {name: value for name, value in args.items() if name not in _KNOWN_ARGUMENTS}
    return read_attributes(found)


def _metric(name: object, value: object) -> MetricValue:
    """Scopes have their numbers as texts, kernels as numbers."""
    if not is_text(name) or not name:
        raise EventError(f"has a metric whose name is {short(name)}")
    if is_text(value):
        if name in (DEVICE_ID, DEVICE_TYPE):
            return str(value)
        try:
            parsed = json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            return str(value)
        if not is_number(parsed) and type(parsed) is not list:
            return str(value)
        value = parsed
    if type(value) is list and all(map(is_number, value)):
        return tuple(value)
    if is_number(value):
        return value
    raise EventError(f"has a metric {short(name)} that is not a number but {short(value)}")
