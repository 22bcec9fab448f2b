"""The metrics of a trace as counters: what had been booked of each at every moment."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from proton.model.metric import MetricKind
from proton.model.trace import Trace


class Counter(NamedTuple):
    """One metric over time."""

    name: str
    samples: list[tuple[float, float]]  # (nanoseconds after the base time, sum up to then)


def count_metrics(trace: Trace, kinds: Mapping[str, MetricKind]) -> list[Counter]:
    """One counter a metric, in the order in which they first appear; lists and labels have none.

    A span's metrics count from its end on. A property does not add up: it shows its values.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for span in trace.spans:
        for name, value in span.metrics.items():
            if isinstance(value, (int, float)):
                found.setdefault(name, []).append((span.start_ns + span.duration_ns, value))
    counters = []
    for name, samples in found.items():
        samples.sort(key=lambda sample: sample[0])
        if kinds.get(name) is not MetricKind.PROPERTY:
            sums = accumulate(value for _, value in samples)
            samples = [(time_ns, total) for (time_ns, _), total in zip(samples, sums, strict=True)]
        counters.append(Counter(name, samples))
    return counters
