"""Keeps kernels within a budget: measures how much records slow them, and thins them out.

While a kernel is on trial its launches are plain and recorded in turn, between two events on the
stream, which are asked later whether they are done: nothing waits. A kernel that is too slow is
compiled with fewer records and tried again. Launches of one kernel need not be alike: turns are
such that both sides get the same of any pattern, and the short ones of each side are compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from proton._triton import compiler as _triton_compiler
from proton._triton.types import TimingEvent
from proton.inkernel.compiler.mode_passes import THINNING
from proton.inkernel.compiler.recording_choice import ChosenMode, choice

SAMPLES = 7  # of each kind, before a kernel is judged
MOST_PENDING = 64


@dataclass
class _Trial:
    """What is known of one kernel; times in milliseconds."""

    kernel: object  # kept, so that its id stays its own
    plain: list[float] = field(default_factory=list)
    recorded: list[float] = field(default_factory=list)
    pending: deque[tuple[list[float], TimingEvent, TimingEvent]] = field(default_factory=deque)
    launches: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    thinning: int = 0
    is_over: bool = False

    def is_next_plain(self) -> bool:
        """Turn about, by Thue and Morse: large and small launches in turn meet both sides alike."""
        return sum(self.launches.values()).bit_count() % 2 == 1

    def collect(self) -> None:
        """Take the times of launches that are done; none is waited for."""
        while self.pending and self.pending[0][2].query():
            times, start, end = self.pending.popleft()
            times.append(float(start.elapsed_time(end)))

    def slowdown(self) -> float | None:
        """How many times as long a launch with records takes; None: too early to say."""
        if min(len(self.plain), len(self.recorded)) < SAMPLES:
            return None
        return _quartile(self.recorded) / max(_quartile(self.plain), 1e-9)

    def again(self) -> None:
        """Forget the times of what was too slow."""
        self.recorded = []
        self.launches[False] = 0
        self.launches[True] = 0
        self.pending.clear()


class Budgets:
    """The kernels on trial."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._trials: dict[int, _Trial] = {}

    def forget(self) -> None:
        """Forget every kernel: the session is over."""
        self._trials.clear()

    def launch(self, kernel: object, chosen: ChosenMode, launch: Callable[[], object]) -> object:
        """Launch a kernel, plain or with records, and see whether it is within its budget."""
        trial = self._trials.setdefault(id(kernel), _Trial(kernel))
        if trial.is_over:
            return launch()
        try:
            make_event = _triton_compiler.event_maker()
        except _triton_compiler.NoClockError as error:
            trial.is_over = True
            self._warn(f"no budget is kept: launches cannot be timed, because {error}")
            return launch()
        if make_event is None:  # a graph is being captured: not now
            return launch()
        trial.collect()
        self._judge(trial, chosen)
        is_plain = trial.is_next_plain() and not trial.is_over
        trial.launches[is_plain] += 1
        if trial.launches[is_plain] == 1 or len(trial.pending) >= MOST_PENDING:
            return _launch(launch, is_plain)  # the first one compiles
        start, end = make_event(), make_event()
        start.record()
        kernel_launched = _launch(launch, is_plain)
        end.record()
        trial.pending.append((trial.plain if is_plain else trial.recorded, start, end))
        return kernel_launched

    def _judge(self, trial: _Trial, chosen: ChosenMode) -> None:
        slowdown = trial.slowdown()
        if slowdown is None:
            return
        if slowdown <= 1 + chosen.mode.budget / 100:
            trial.is_over = True
        elif trial.thinning + 1 < len(THINNING):
            trial.thinning += 1
            choice.thin(trial.kernel, trial.thinning)
            trial.again()
        else:
            trial.is_over = True
            name = getattr(trial.kernel, "__name__", "?")
            self._warn(
                f"kernel {name!r} slows by {(slowdown - 1) * 100:.1f} % with the fewest records, "
                f"above its budget of {chosen.mode.budget:g} %; record less (mode 'cta')"
            )


def _quartile(times: list[float]) -> float:
    return sorted(times)[len(times) // 4]


def _launch(launch: Callable[[], object], is_plain: bool) -> object:
    if not is_plain:
        return launch()
    with choice.plainly():
        return launch()
