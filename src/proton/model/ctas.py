"""How the CTAs of one launch were spread over the device, from when and where each of them ran.

Recording and reading describe launches by the same rules: this is their only home.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proton.model.in_kernel import Ctas, active_over_time


class CtaTime(NamedTuple):
    """One CTA: its number in the grid, its multiprocessor, and when it ran."""

    number: int
    sm: int
    start_ns: float
    end_ns: float


def summarize_ctas(times: Sequence[tuple[int, int, float, float]]) -> Ctas | None:
    """How the CTAs of a launch, each a `CtaTime`, were spread over the device; None without any."""
    if not times:
        return None
    first = min(start for _, _, start, _ in times)
    last = max(end for _, _, _, end in times)
    by_sm: dict[int, list[tuple[float, float]]] = {}
    for _, sm, start, end in times:
        by_sm.setdefault(sm, []).append((start, end))
    durations = sorted(end - start for _, _, start, end in times)
    whole = max(last - first, 1)
    shares: list[float | None] = [None] * (max(by_sm) + 1)
    for sm, spans in by_sm.items():
        shares[sm] = round(_covered(spans) / whole, 4)
    return Ctas(
        count=len(times),
        sms=len(by_sm),
        first_start_ns=first,
        last_end_ns=last,
        p50_ns=_quantile(durations, 0.5),
        p99_ns=_quantile(durations, 0.99),
        waves=round(len(times) / max(_most_at_once(times), 1), 3),
        tail_ns=last - min(max(end for _, end in spans) for spans in by_sm.values()),
        per_sm=shares,
        active=active_over_time([(start, end) for _, _, start, end in times], first, last),
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Nearest rank, as everywhere."""
    return ordered[max(-(-int(share * 1000) * len(ordered) // 1000), 1) - 1]


def _covered(spans: list[tuple[float, float]]) -> float:
    """Nanoseconds in which at least one of the spans ran."""
    covered, until = 0.0, min(start for start, _ in spans)
    for start, end in sorted(spans):
        covered += max(end - max(start, until), 0)
        until = max(until, end)
    return covered


def _most_at_once(times: Sequence[tuple[int, int, float, float]]) -> int:
    edges = sorted([(start, 1) for _, _, start, _ in times] + [(end, -1) for _, _, _, end in times])
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most
