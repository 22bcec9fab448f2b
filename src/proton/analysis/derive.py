"""Metrics as people ask for them: `time/ms`, `p99_time/us`, `tflop16/s`, `util`, `time/%`, `count`.

`derive` turns such words into columns, one value a row of the tree. A value that was not measured
is None, never zero; one that needs a peak we do not know is the label `n/a`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from proton.analysis.measurements import (
    Cell,
    find_metric,
    plain_name,
    raw_metrics,
    shown_name,
    shown_values,
    total_of,
    unit_of,
    unknown_metric,
    whole_of,
)
from proton.analysis.roofline import (
    BYTES,
    PLAIN_FLOPS,
    WIDTH_METRICS,
    Roof,
    bound_by,
    flops_of,
    roof_of,
)
from proton.analysis.spread import (
    LAUNCH,
    RANK_TIMES,
    SLOWEST,
    SPREAD,
    known_words,
    launch_values,
    rank_times_ns,
    slowest_ranks,
    spread_ns,
    times_metric,
)
from proton.errors import MetricNotFound, UsageError
from proton.model.host_time import self_times
from proton.model.metric import CALLS, COUNT, CPU_TIME_NS, MetricKind
from proton.model.profile import LABELS, TreeProfile, kind_of

TIME_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
NOT_KNOWN = "n/a"
SELF_TIME = "self_cpu_time"  # of operators and scopes, without those inside
ROOFLINE = ("util", "flops_util", "bytes_util", "intensity", "bound")

# What is derived from declared work, under the names that digests and pages have for it.
RATES = {
    "flop_per_s": "flop/s",
    "byte_per_s": "byte/s",
    "share_of_peak": "util",
    "bound": "bound",
    "headroom_ns": "headroom/ns",
}

_RATE = re.compile(r"(?P<scale>|g|t)(?P<what>flop|byte)(?P<width>|8|16|32|64)/s")
_SOURCES = ("time", "cpu_time", COUNT, BYTES, PLAIN_FLOPS, *(metric for _, metric in WIDTH_METRICS))
_SCALES = {"": 1.0, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of every row."""

    word: str  # as it was asked for
    title: str  # "time", "flop16"
    unit: str  # "ms", "%", "TFLOP/s", ""
    values: Sequence[Cell]
    decimals: int = 3
    base: str | None = None  # the measured metric that this one shows or divides
    is_additive: bool = False  # a row's value is a part of the whole
    total: float | None = None  # the whole; None where parts do not add up or none was measured
    is_raw: bool = False  # as measured: small values matter as much as large ones
    is_difference: bool = False
    is_grouped: bool = False  # digits stand in groups of three


def derive(profile: TreeProfile, words: Sequence[str]) -> list[Column]:
    """The columns for `words` over the tree of `profile`.

    Raises:
        UsageError: A metric or unit is unknown, or what it is derived from was not recorded.
    """
    source = _Source(profile)
    return [_column(source, word.strip()) for word in words]


def default_word(profile: TreeProfile) -> str | None:
    """What to show when nothing was asked for: time, time of the host, else the first metric."""
    tree = profile.tree
    measured = [
        metric
        for metric in raw_metrics(tree)
        if tree.own[0].get(metric) or any(metric in own for own in islice(tree.own, 1, None))
    ]
    for name in ("time", "cpu_time"):
        if (time := find_metric(name, measured)) is not None:
            return time
    return measured[0] if measured and measured[0] not in LABELS else None


def derivable_words(profile: TreeProfile) -> list[str]:
    """Every derived metric that this profile has the sources for."""
    return [word for words in derivable_families(profile).values() for word in words]


def derivable_families(profile: TreeProfile) -> dict[str, list[str]]:
    """The derived metrics that this profile has the sources for, by what they tell."""
    available = raw_metrics(profile.tree)
    timed = [
        name
        for name in ("time", "cpu_time")
        if (metric := find_metric(name, available)) and _known_length_ns(metric)
    ]
    widths = [metric for _, metric in WIDTH_METRICS if metric in available]
    amounts = [f"flop{metric[5:]}" for metric in widths]
    if PLAIN_FLOPS in available or widths:
        amounts.insert(0, "flop")
    if BYTES in available:
        amounts.append("byte")
    families = {"times": [f"{name}/{unit}" for name in timed for unit in TIME_UNITS]}
    if CPU_TIME_NS in available:
        families["times"] += [f"{SELF_TIME}/{unit}" for unit in TIME_UNITS]
    averaged = [
        name
        for name in timed
        if COUNT in available
        or (name == "cpu_time" and (profile.tree.entries or CALLS in available))
    ]
    families["averages"] = [f"avg_{name}/{unit}" for name in averaged for unit in TIME_UNITS]
    known = known_words(profile.tree)
    families["spread"] = [
        f"{name}/{unit}" for name in SPREAD if name in known for unit in TIME_UNITS
    ]
    if times_metric(available) is not None:
        families["ranks"] = [*(f"{name}/{unit}" for name in RANK_TIMES for unit in TIME_UNITS)]
        families["ranks"].append(SLOWEST)
    families["launch"] = [name for name in LAUNCH if name in known]
    if "time" in timed:
        families["rates"] = [f"{scale}{what}/s" for what in amounts for scale in _SCALES]
        if widths or BYTES in available:
            families["roofline"] = [*ROOFLINE, *(f"headroom/{unit}" for unit in TIME_UNITS)]
    source = _Source(profile)
    families["shares"] = [
        f"{plain_name(metric)}/%" for metric in available if source.total(metric) is not None
    ]
    return {family: words for family, words in families.items() if words}


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


class _Source:
    """A profile under derivation: what it measured, found once and kept."""

    def __init__(self, profile: TreeProfile) -> None:
        self.profile = profile
        self.tree = profile.tree
        self.available = raw_metrics(profile.tree)
        self.values: Callable[[str], list[Cell]] = cache(self._values)
        self.roof: Callable[[], Roof] = cache(lambda: roof_of(profile))

    def _values(self, metric: str) -> list[Cell]:
        return shown_values(self.tree, metric, kind_of(self.profile, metric))

    def numbers(self, metric: str) -> list[float | None]:
        """The values of `metric`; None too where it is no single number."""
        return [value if isinstance(value, (int, float)) else None for value in self.values(metric)]

    def find(self, name: str, word: str) -> str:
        """The measured metric called `name`, which `word` is about."""
        if (metric := find_metric(name, self.available)) is not None:
            return metric
        if name == word or name not in _SOURCES:
            raise unknown_metric(word, self.available, derivable_words(self.profile))
        raise self.missing(word, repr(name))

    def missing(self, word: str, needed: str) -> MetricNotFound:
        """The error for a derived metric whose source was not recorded."""
        has = ", ".join(repr(plain_name(metric)) for metric in self.available) or "none"
        return MetricNotFound(
            f"metric {word!r} needs {needed}, which was not recorded; there is {has}"
        )

    def is_additive(self, metric: str) -> bool:
        """Whether values of `metric` are parts of a whole."""
        return kind_of(self.profile, metric) is not MetricKind.PROPERTY

    def total(self, metric: str) -> float | None:
        """All of `metric`: its sum over the whole profile; None for a property."""
        if metric == CPU_TIME_NS:
            return whole_of(self.tree, metric)
        return total_of(self.values(metric), kind_of(self.profile, metric))

    def runs(self, name: str, word: str) -> list[float | None]:
        """How often what took the time `name` ran: scopes are entered, operators called."""
        entries, has_calls = self.tree.entries, CALLS in self.available
        if name == "avg_cpu_time" and (entries or has_calls):
            calls = self.numbers(CALLS) if has_calls else [None] * len(self.tree)
            return [entries.get(row) if n is None else n for row, n in enumerate(calls)]
        return self.numbers(self.find(COUNT, word))


def _column(source: _Source, word: str) -> Column:
    lower = word.lower()
    if lower in ROOFLINE:
        return _roofline(source, lower)
    if match := _RATE.fullmatch(lower):
        return _rate(source, lower, match)
    exact = find_metric(word, source.available)
    name, slash, unit = lower.rpartition("/")
    if exact is None and (lower in LAUNCH or (name in SPREAD and unit in TIME_UNITS)):
        return _detail(source, lower, name, unit)
    if exact is None and (lower == SLOWEST or (name in RANK_TIMES and unit in TIME_UNITS)):
        return _ranks(source, lower, name, unit)
    if exact is not None or not slash:
        metric = exact or source.find(word, word)
        return Column(
            word=word,
            title=shown_name(metric),
            unit=unit_of(metric),
            values=source.values(metric),
            base=metric,
            is_additive=source.is_additive(metric),
            total=source.total(metric),
            is_raw=True,
        )
    if unit == "%":
        return _share(source, lower, word.rpartition("/")[0])
    if unit in TIME_UNITS:
        return _time(source, lower, name, unit)
    choices = ", ".join(repr(choice) for choice in ("%", *TIME_UNITS))
    raise UsageError(f"unknown unit {unit!r} in metric {word!r}; choose one of {choices}")


def _share(source: _Source, word: str, name: str) -> Column:
    metric = source.find(name, word)
    total = source.total(metric)
    if not source.is_additive(metric):
        raise UsageError(f"metric {word!r} has no meaning: {name!r} does not add up to a whole")
    values: list[Cell] = [
        None if value is None or not total else 100.0 * value / total
        for value in source.numbers(metric)
    ]
    return Column(word, shown_name(metric), "%", values, 1, metric, True, 100.0)


def _time(source: _Source, word: str, name: str, unit: str) -> Column:
    if name == "headroom":
        return _headroom(source, word, unit)
    if name == SELF_TIME:
        return _self_time(source, word, unit)
    is_average = name in ("avg_time", "avg_cpu_time")
    metric = source.find(name.removeprefix("avg_") if is_average else name, word)
    factor = _length_ns(metric, word) / TIME_UNITS[unit]
    times = source.numbers(metric)
    if is_average:
        counts = source.runs(name, word)
        return Column(word, name, unit, _ratios(times, counts, factor), base=metric)
    total = source.total(metric)
    values: Sequence[Cell] = times
    if factor != 1:  # nanoseconds as measured stay whole numbers
        values = [None if time is None else time * factor for time in times]
        total = None if total is None else total * factor
    additive = source.is_additive(metric)
    return Column(word, name, unit, values, base=metric, is_additive=additive, total=total)


def _self_time(source: _Source, word: str, unit: str) -> Column:
    metric = source.find("cpu_time", word)
    times = self_times(source.tree)
    total = sum(time for time in times if time is not None) / TIME_UNITS[unit]
    values = _in_unit(times, unit)
    return Column(word, SELF_TIME, unit, values, base=metric, is_additive=True, total=total)


def _detail(source: _Source, word: str, name: str, unit: str) -> Column:
    if (name if word not in LAUNCH else word) not in known_words(source.tree):
        what = "launch" if word in LAUNCH else "spread"
        raise source.missing(word, f"the {what} of kernels")
    base = find_metric("time", source.available)
    if word in LAUNCH:
        launches = launch_values(source.tree, word)
        return Column(word, word, "B" if word == "shared" else "", launches, base=base)
    times = spread_ns(source.tree, name)
    return Column(word, name, unit, _in_unit(times, unit), base=base)


def _ranks(source: _Source, word: str, name: str, unit: str) -> Column:
    """The spread of the times of ranks, of merged profiles."""
    if (metric := times_metric(source.available)) is None:
        raise source.missing(word, "the times of ranks, as `proton merge` keeps them")
    values = source.values(metric)
    if word == SLOWEST:
        return Column(word, word, "", slowest_ranks(values, source.profile.ranks), decimals=0)
    return Column(word, name, unit, _in_unit(rank_times_ns(values, name), unit), base=metric)


def _in_unit(times_ns: Sequence[float | None], unit: str) -> list[Cell]:
    length = TIME_UNITS[unit]
    return [time if time is None or length == 1 else time / length for time in times_ns]


def _ratios(
    amounts: Sequence[float | None], wholes: Sequence[float | None], factor: float = 1.0
) -> list[Cell]:
    """`amount * factor / whole`, row by row; None where one is missing or the whole is 0."""
    pairs = zip(amounts, wholes, strict=True)
    return [None if part is None or not whole else part * factor / whole for part, whole in pairs]


def _length_ns(metric: str, word: str) -> float:
    """How many nanoseconds one unit of `metric` is, which `word` needs to be a time."""
    length = _known_length_ns(metric)
    if length is None:
        raise UsageError(f"metric {word!r} has no meaning: {metric!r} is not measured in time")
    return length


def _known_length_ns(metric: str) -> float | None:
    """How many nanoseconds one unit of `metric` is; None for no time, 1 without a unit."""
    is_time = plain_name(metric) in ("time", "cpu_time")
    return TIME_UNITS.get(unit_of(metric) or ("ns" if is_time else ""))


def _rate(source: _Source, word: str, match: re.Match[str]) -> Column:
    what, width, scale = match["what"], match["width"], match["scale"]
    time = source.find("time", word)
    times = source.numbers(time)
    per_second = TIME_UNITS["s"] / _length_ns(time, word)
    amounts = source.numbers(source.find(BYTES, word)) if what == "byte" else None
    if amounts is None:
        amounts = _flops(source, word, width)
    factor = per_second / _SCALES[scale]
    return Column(word, word, "", _ratios(amounts, times, factor), base=time)


def _flops(source: _Source, word: str, width: str) -> list[float | None]:
    """Operations of one width; with no width asked for, what `flops_of` says of each context."""
    if width:
        return source.numbers(source.find(f"flops{width}", word))
    names = (PLAIN_FLOPS, *(metric for _, metric in WIDTH_METRICS))
    found = [metric for metric in names if metric in source.available]
    if not found:
        raise source.missing(word, "'flops' (or 'flops8' to 'flops64')")
    amounts = [flops_of(own) for own in source.tree.own]
    amounts[0] = amounts[0] or None  # the root's zero only says that they are inclusive
    if kind_of(source.profile, found[0]) is MetricKind.INCLUSIVE:
        source.tree.add_upwards(amounts)
    return amounts


def _roofline(source: _Source, word: str) -> Column:
    if BYTES not in source.available and not any(
        metric in source.available for _, metric in WIDTH_METRICS
    ):
        raise source.missing(word, "'bytes' or 'flops8' to 'flops64'")
    if word == "intensity":
        return _intensity(source)
    roof = source.roof()
    if word == "bound":
        bounds: list[Cell] = [
            NOT_KNOWN if unknown else None if plain else bound_by(flops_s, bytes_s)
            for flops_s, bytes_s, unknown, plain in zip(
                roof.flops_s, roof.bytes_s, roof.is_unknown, roof.lacks_width, strict=True
            )
        ]
        return Column(word, word, "", bounds)
    least = {"util": roof.least_s, "flops_util": roof.flops_s, "bytes_util": roof.bytes_s}[word]
    time = source.find("time", word)
    per_second = TIME_UNITS["s"] / _length_ns(time, word)
    values: list[Cell] = [
        NOT_KNOWN if unknown else None if low is None or not spent else low * per_second / spent
        for low, spent, unknown in zip(least, source.numbers(time), roof.is_unknown, strict=True)
    ]
    return Column(word, word, "", values, base=time)


def _intensity(source: _Source) -> Column:
    flops = _flops(source, "intensity", "")
    sizes = source.numbers(source.find(BYTES, "intensity"))
    return Column("intensity", "intensity", "FLOP/B", _ratios(flops, sizes))


def _headroom(source: _Source, word: str, unit: str) -> Column:
    """Time above the roof: what could be saved at best."""
    roof = source.roof()
    time = source.find("time", word)
    factor = _length_ns(time, word) / TIME_UNITS[unit]
    in_unit = TIME_UNITS["s"] / TIME_UNITS[unit]
    values: list[Cell] = [
        NOT_KNOWN
        if unknown
        else None
        if low is None or spent is None
        else spent * factor - low * in_unit
        for low, spent, unknown in zip(
            roof.least_s, source.numbers(time), roof.is_unknown, strict=True
        )
    ]
    return Column(word, "headroom", unit, values, base=time)
