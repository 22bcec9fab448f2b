"""Schedules: which steps of a program a session records, as `proton.step()` counts them.

Light to import: `proton.schedule` is a public name.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from proton.errors import UsageError, did_you_mean

if TYPE_CHECKING:  # not to break a cycle: `import proton` must not load it
    from proton.runtime.open_session import OpenSession

_PARTS = ("wait", "warmup", "active", "repeat")


class Recording(Enum):
    """What a session does in a step."""

    OFF = "off"
    DISCARDED = "discarded"  # records, as the first steps that do are slower, and drops it
    ON = "on"


class Schedule(NamedTuple):
    """Cycles of steps: wait, then warm up, then record; `repeat` cycles, or for good if it is 0."""

    wait: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int = 0

    def __str__(self) -> str:
        return ",".join(f"{name}={getattr(self, name)}" for name in _PARTS)

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """The schedule that `wait=1,warmup=1,active=3` stands for.

        Raises:
            UsageError: It stands for none.
        """
        given: dict[str, int] = {}
        for word in text.split(","):
            name, _, value = word.strip().partition("=")
            if name not in _PARTS or not value.isascii() or not value.isdigit():
                near = did_you_mean(name, _PARTS) if name not in _PARTS else ""
                raise UsageError(
                    f"schedule {text!r}: {word.strip()!r} is no number of steps{near}; "
                    "write wait=1,warmup=1,active=3 and, if it shall end, repeat=1"
                )
            given[name] = int(value)
        return cls(**given).checked()

    def checked(self) -> Schedule:
        """This schedule.

        Raises:
            UsageError: A number has no meaning.
        """
        for name in _PARTS:
            value, least = getattr(self, name), int(name == "active")
            if type(value) is not int or value < least:
                raise UsageError(
                    f"{name} of a schedule must be a number of steps from {least} on, not {value!r}"
                )
        return self

    def cycle_of(self, step: int) -> int:
        """The cycle that a step stands in; steps and cycles count from 0."""
        return step // (self.wait + self.warmup + self.active)

    def at(self, step: int) -> Recording:
        """What is done in a step."""
        cycle = self.cycle_of(step)
        if self.repeat and cycle >= self.repeat:
            return Recording.OFF
        place = step - cycle * (self.wait + self.warmup + self.active)
        if place < self.wait:
            return Recording.OFF
        return Recording.DISCARDED if place < self.wait + self.warmup else Recording.ON


def schedule(*, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0) -> Schedule:
    """Which steps a session records; for the argument `schedule` of `start` and `profile`.

    A cycle is `wait` steps that are not recorded, `warmup` steps that are recorded and dropped, and
    `active` steps that are kept. Each cycle is a phase, with a file of its own where there are
    several. `proton.step()` says where steps end.

    Args:
        wait: steps before recording is switched on.
        warmup: steps after that whose events are dropped: the first ones are slower.
        active: steps that are recorded.
        repeat: how many such cycles there are; 0: one after the other to the end.

    Raises:
        UsageError: a number has no meaning.

    Example:
        >>> proton.start("train", schedule=proton.schedule(wait=2, warmup=1, active=3, repeat=1))
    """
    return Schedule(wait, warmup, active, repeat).checked()


class Following:
    """A session that follows a schedule, from its first step on."""

    def __init__(self, opened: OpenSession, plan: Schedule) -> None:
        self.plan = plan
        self._opened = opened
        self._step = 0
        self._untouched = 0  # what the core calls the state of a cycle that has nothing yet
        if plan.at(0) is Recording.OFF:
            opened.deactivate()

    @property
    def is_recording(self) -> bool:
        """Whether the step under way is recorded, be it to be dropped."""
        return self.plan.at(self._step) is not Recording.OFF

    @property
    def is_cycle_empty(self) -> bool:
        """Whether a cycle after the first has recorded nothing that is kept."""
        native = self._opened.native
        return native.phase > 0 and native.change_count(native.phase) == self._untouched

    @property
    def why_empty(self) -> str:
        """What the program did not come to, where it ended before its first kept step; else ""."""
        first = self.plan.wait + self.plan.warmup
        if self._step >= first:
            return ""
        return (
            f"the schedule keeps steps from number {first} on, and proton.step() was called "
            f"{self._step} times; shorten wait and warmup, or run more steps"
        )

    @property
    def step(self) -> int:
        """The number of the step under way, from 0 on."""
        return self._step

    def advance(self) -> None:
        """A step ended: do what the schedule has for the next one."""
        opened, plan = self._opened, self.plan
        before = plan.at(self._step)
        self._step += 1
        now = plan.at(self._step)
        if before is Recording.DISCARDED is not now:
            opened.deactivate(flushing=True)  # so that none of it comes later
            self.end(before)
        elif before is Recording.ON and now is Recording.OFF:
            opened.deactivate()
        is_over = bool(plan.repeat) and plan.cycle_of(self._step) >= plan.repeat
        if plan.cycle_of(self._step) != plan.cycle_of(self._step - 1) and not is_over:
            self._untouched = opened.native.change_count(opened.advance_phase())
        if now is not Recording.OFF and not opened.native.is_active:
            opened.activate()

    def end(self, state: Recording | None = None) -> None:
        """Drop what a warm-up recorded, where the session ends or goes on after one."""
        if (state or self.plan.at(self._step)) is Recording.DISCARDED:
            native = self._opened.native
            self._opened.clear(native.phase, up_to=False)
            self._untouched = native.change_count(native.phase)
