"""The line above a view that tells of the ranks of a merged profile."""

from __future__ import annotations

from proton.analysis.rank_spread import RANK_TIMES, SLOWEST, times_metric
from proton.model.profile import Profile, TreeProfile
from proton.model.ranks import spread_of
from proton.render.display_names import printable
from proton.render.units import format_amount, readable_time_unit


def rank_lines(profile: Profile) -> list[str]:
    """How many ranks there are and how long they took; none where a profile has no ranks."""
    if not profile.ranks:
        return []
    times = [float(rank.time_ns) for rank in profile.ranks if rank.time_ns is not None]
    text = f"{len(profile.ranks)} ranks, values are summed over them"
    if times:
        spread = spread_of(times)
        timed = [rank for rank in profile.ranks if rank.time_ns is not None]
        slowest = timed[spread.slowest]
        unit, length = readable_time_unit(spread.largest)
        least, median, largest = (format_amount(each / length, 1) for each in spread[:3])
        where = f" on {printable(slowest.host)}" if slowest.host else ""
        text += (
            f"; time of a rank: {least} to {largest} {unit}, median {median} {unit}, "
            f"slowest: rank {slowest.rank}{where}"
        )
    return [text]


def rank_words(profile: TreeProfile) -> list[str]:
    """The columns that show the spread over ranks, in the unit in which they read best."""
    metric = times_metric(name for own in profile.tree.own for name in own)
    if metric is None or not profile.ranks:
        return []
    times = [float(rank.time_ns) for rank in profile.ranks if rank.time_ns is not None]
    if not times:  # without kernels ranks have no time of their own, but their scopes do
        values = (own.get(metric) for own in profile.tree.own)
        times = [max(value) for value in values if isinstance(value, (list, tuple)) and value]
    unit = readable_time_unit(max(times, default=0.0))[0]
    return [*(f"{word}/{unit}" for word in RANK_TIMES), SLOWEST]
