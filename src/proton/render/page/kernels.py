"""The part `kernels`: every kernel and copy by name, with times, rates and share of the peak."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from proton.analysis.aggregate import merge_by_name
from proton.analysis.derive import NOT_KNOWN, derivable_words, derive
from proton.analysis.measurements import Cell, whole_of
from proton.analysis.select import everything
from proton.analysis.spread import LAUNCH, launch_values
from proton.analysis.union_quantiles import Quantile, quantiles_of_kernels, quantiles_of_spans
from proton.model.kinds import kind_of
from proton.model.metric import COUNT, TIME_NS
from proton.model.profile import TreeProfile
from proton.render.page.pack import Columns

# Key of the part -> the derived metric it is.
RATES = {
    "flop_per_s": "flop/s",
    "byte_per_s": "byte/s",
    "share_of_peak": "util",
    "bound": "bound",
    "headroom_ns": "headroom/ns",
}


def kernels_part(profile: TreeProfile, columns: Columns) -> dict[str, Any] | None:
    """Lists with a place for each kernel, those with the most time first.

    `name` is as in the document; times are nanoseconds, shares 0 to 1; what is not known is None.
    `p50_ns` and `p99_ns` are `[value, least, largest]`, the last two where a value is estimated
    from several contexts and lies surely between them.
    """
    tree = profile.tree
    whole = whole_of(tree, TIME_NS)
    if whole is None:
        return None
    flat = merge_by_name(profile, TIME_NS, everything(tree), cache(partial(kind_of, profile)))
    times = flat.tree.own_numbers(TIME_NS)
    rows = [row for row in range(1, len(flat.tree)) if times[row] is not None]
    rows.sort(key=lambda row: -(times[row] or 0))
    counts = flat.tree.own_numbers(COUNT)
    trace = profile.trace
    quantiles = quantiles_of_kernels(tree) if trace is None else quantiles_of_spans(trace)
    names = [flat.tree.frames[row].name for row in rows]
    details = [flat.tree.details.get(row) for row in rows]
    middles = [quantiles.get(name) for name in names]
    return {
        "name": names,
        "kind": [flat.tree.frames[row].kind.value for row in rows],
        "time_ns": [times[row] for row in rows],
        "share": [(times[row] or 0) / whole if whole else None for row in rows],
        "count": [counts[row] for row in rows],
        "avg_ns": [_ratio(times[row], counts[row]) for row in rows],
        "min_ns": [None if detail is None else detail.min_ns for detail in details],
        "p50_ns": [None if found is None else _shown(found.p50) for found in middles],
        "p99_ns": [None if found is None else _shown(found.p99) for found in middles],
        "max_ns": [None if detail is None else detail.max_ns for detail in details],
        **{key: [values[row] for row in rows] for key, values in rates_of(flat).items()},
        **{word: _picked(launch_values(flat.tree, word), rows) for word in LAUNCH},
    }


def rates_of(profile: TreeProfile) -> dict[str, Sequence[Cell]]:
    """The derived values of `RATES` for every row; None where the sources were not recorded."""
    possible = set(derivable_words(profile))
    missing: Sequence[Cell] = [None] * len(profile.tree)
    words = [word for word in RATES.values() if word in possible]
    found = {column.word: column.values for column in derive(profile, words)}  # at once: they share
    return {
        key: [None if value == NOT_KNOWN else value for value in found.get(word, missing)]
        for key, word in RATES.items()
    }


def _ratio(amount: float | None, count: float | None) -> float | None:
    return None if amount is None or not count else amount / count


def _picked(values: Sequence[Cell], rows: Sequence[int]) -> list[Cell]:
    return [values[row] for row in rows]


def _shown(found: Quantile) -> list[float]:
    return [found.value] if found.least == found.largest else list(found)
