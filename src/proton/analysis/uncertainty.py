"""How far a sum of times may be off: variances, their bounds, and intervals of confidence.

An interval here says what the runs of a recording tell about runs like them. Two recordings may
differ by more than that, because clocks, temperature and neighbours differ between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from proton.model.tree import KernelDetail

CONFIDENCE = 0.95
_TICK_NS = 32  # steps of the clocks that kernels are timed by: equal times are not exact ones
_NORMAL = 1.959963984540054  # 97.5 % of a normal distribution lies below it
# 97.5 % quantiles of Student's distribution with 1, 2, ... degrees of freedom.
_STUDENT = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
)  # fmt: skip


class Variance(NamedTuple):
    """The variance of a sum, and how well it is known. Those of independent parts add up."""

    size: float = 0.0
    doubt: float = 0.0  # sum over parts of size squared / degrees of freedom

    @property
    def freedom(self) -> float:
        """Degrees of freedom by Welch and Satterthwaite."""
        return self.size**2 / self.doubt if self.doubt > 0 else float("inf")

    def __add__(self, other: object) -> Variance:
        assert isinstance(other, Variance)
        return Variance(self.size + other.size, self.doubt + other.doubt)

    def scaled(self, factor: float) -> Variance:
        """The variance of the sum times `factor`."""
        return Variance(self.size * factor**2, self.doubt * factor**4)

    def half_width(self) -> float:
        """Half of the interval of confidence around the sum."""
        return student_t(self.freedom) * sqrt(self.size)


def sum_of(parts: Iterable[Variance]) -> Variance:
    """The variance of a sum whose parts have these."""
    total = Variance()
    for part in parts:
        total += part
    return total


def student_t(freedom: float) -> float:
    """The factor between a standard deviation and half an interval of confidence."""
    if freedom <= len(_STUDENT):
        return _STUDENT[max(int(freedom), 1) - 1]  # rounded down: the wider interval
    z = _NORMAL
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def variance_of_sum(times: Sequence[float]) -> Variance | None:
    """That of the sum of `times`, from how they differ; None with fewer than two."""
    count = len(times)
    if count < 2:
        return None
    mean = sum(times) / count
    sample = sum((time - mean) ** 2 for time in times) / (count - 1)
    return _of_runs(count, sample)


def variance_of_batches(times: Sequence[float], counts: Sequence[float]) -> Variance | None:
    """That of the sum of `times`, each of a batch of `counts` runs; None with fewer than three.

    Batches may be of unequal size: what varies is how far a batch is from its share.
    """
    size, runs = len(times), sum(counts)
    if size < 3 or not runs:
        return None
    mean = sum(times) / runs
    rests = (time - mean * count for time, count in zip(times, counts, strict=True))
    sample = sum(rest**2 for rest in rests) / (size - 1)
    return _of_runs(size, sample)


def variance_from_spread(count: int, total_ns: float, detail: KernelDetail) -> Variance | None:
    """The most that the variance of a sum can be, where only the spread of its runs is known.

    None with fewer than two runs. The bound is sharp: no other runs with this count, mean and
    these quantiles vary more.
    """
    if count < 2:
        return None
    mean = total_ns / count
    population = max((detail.max_ns - mean) * (mean - detail.min_ns), 0.0)
    if detail.p50_ns is not None and detail.p99_ns is not None:
        quantiles = (detail.min_ns, detail.p50_ns, detail.p99_ns, detail.max_ns)
        population = min(population, _widest(mean, quantiles) or population)
    return _of_runs(count, population * count / (count - 1))


def _of_runs(count: int, sample: float) -> Variance:
    size = count * max(sample, _TICK_NS**2 / 6)
    return Variance(size, size**2 / (count - 1))


def _widest(mean: float, edges: Sequence[float]) -> float | None:
    """The largest variance with half of all below edge 1, and 99 % below edge 2.

    All stands at edges. Starting from the lower one of each part, the mean is reached by lifting
    what gives the most: the top part first. None where no such runs have this mean, as quantiles
    of a histogram may be off.
    """
    least, middle, high, most = edges
    rest = mean - 0.5 * least - 0.49 * middle - 0.01 * high
    if rest < 0:
        return None
    square = 0.5 * least * least + 0.49 * middle * middle + 0.01 * high * high
    for share, low, up in ((0.01, high, most), (0.49, middle, high), (0.5, least, middle)):
        lift = share * (up - low)
        if rest < lift:
            lift = rest
        square += lift * (low + up)
        rest -= lift
    return max(square - mean**2, 0.0) if rest <= 1e-9 * mean else None
