"""Which metrics a profile holds, and how a name typed by a person finds one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from proton.errors import MetricNotFound
from proton.model.kinds import LABELS
from proton.model.metric import split_unit
from proton.model.tree import Tree


def raw_metrics(tree: Tree) -> list[str]:
    """Every metric name that some context has, in first-seen order, labels last."""
    return sorted(dict.fromkeys(chain.from_iterable(tree.own)), key=lambda name: name in LABELS)


def plain_name(metric: str) -> str:
    """`"time (ns)"` -> `"time"`: what people type, in lower case."""
    return metric.split("(", 1)[0].strip().lower() or metric.lower()


def find_metric(name: str, available: Iterable[str]) -> str | None:
    """The metric that `name` means: exact, or without unit and in any case."""
    wanted = name.strip().lower()
    loose = None
    for metric in available:
        if wanted == metric.lower():
            return metric
        if loose is None and wanted == plain_name(metric):
            loose = metric
    return loose


def unit_of(metric: str) -> str:
    """The unit in a metric's name: `"time (ns)"` -> `"ns"`; `""` without one."""
    unit = split_unit(metric)[1]
    return "" if unit in ("inc", "exc", "pty") else unit


def unknown_metric(name: str, available: Sequence[str], derived: Iterable[str]) -> MetricNotFound:
    """The error for a metric that a profile does not have: the nearest name, then the choices."""
    from difflib import get_close_matches  # not needed unless something is wrong

    plain = list(dict.fromkeys(plain_name(metric) for metric in available))
    near = get_close_matches(name.lower(), [*plain, *derived], n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    choices = ", ".join(repr(metric) for metric in plain) or "none"
    return MetricNotFound(
        f"unknown metric {name!r}{hint}; this profile has {choices}; "
        "-l lists them and what can be derived"
    )
