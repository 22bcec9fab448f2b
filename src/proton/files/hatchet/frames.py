"""Frames from the names of a file: what kind each is, and the places that names spell out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from proton.model.frame import METADATA_SCOPE, Frame, FrameKind
from proton.model.metric import CYCLES, DEVICE_ID, DEVICE_TYPE, TIME_NS, MetricValue

LETTERS = frozenset(kind.value for kind in FrameKind)
_PLACE = re.compile(r"(.+):(\d{1,9})@(.+)", re.DOTALL).fullmatch
_SAMPLES = "num_samples"
_DEVICE_TYPES = {"0": "HIP", "1": "CUDA"}  # Triton's numbers for them, beside cycles only


class _Frames(dict[str, Frame]):
    """Name -> its frame of one kind, made when first asked for."""

    def __init__(self, kind: FrameKind) -> None:
        self._kind = kind
        self._has_place = kind in (FrameKind.PYTHON, FrameKind.SAMPLE)

    def __missing__(self, name: str) -> Frame:
        if self._has_place and (place := _PLACE(name)):
            file, line, function = place.groups()
            frame = Frame(name, self._kind, file, int(line), function)
        else:  # what Frame(name, kind) does, in half the time
            frame = tuple.__new__(Frame, (name, self._kind, None, None, None))
        self[name] = frame
        return frame


class _Letters(dict[str, str]):
    """Name -> the letter that the name alone suggests."""

    def __missing__(self, name: str) -> str:
        if "@" in name and _PLACE(name):
            letter = "p"
        else:
            letter = "t" if name.startswith(METADATA_SCOPE) else "s"
        self[name] = letter
        return letter


def frames_of(names: Iterable[str], kinds: Iterable[str]) -> list[Frame]:
    """One frame a row; equal frames are one object."""
    made = {kind.value: _Frames(kind) for kind in FrameKind}
    return [made[kind][name] for name, kind in zip(names, kinds, strict=True)]


def is_kinds(kinds: str, size: int) -> bool:
    """Whether `kinds` are the letters of a tree of `size` rows."""
    return len(kinds) == size and kinds[:1] == "r" and set(kinds) <= LETTERS


def infer_kinds(
    names: Sequence[str], own: Sequence[Mapping[str, object]], parents: Sequence[int]
) -> str:
    """The letters of a tree that does not say them.

    A kernel has a device and a time; `file:line@function` is a source line with samples or below a
    kernel, and a Python frame elsewhere; what is outside of in-kernel cycles is a kernel too; all
    else is a scope.
    """
    suggested = _Letters()
    letters = [
        "k" if DEVICE_ID in metrics and TIME_NS in metrics else suggested[name]
        for name, metrics in zip(names, own, strict=True)
    ]
    for row, metrics in enumerate(own):  # before lines are told from frames by their kernels
        if CYCLES in metrics and (parent := parents[row]) > 0 and CYCLES not in own[parent]:
            letters[parent] = "k"
    if "p" in suggested.values():
        for row, parent in enumerate(parents):
            is_below = parent >= 0 and letters[parent] in "kl"
            if letters[row] == "p" and (is_below or _SAMPLES in own[row]):
                letters[row] = "l"
    letters[0] = "r"
    return "".join(letters)


def name_device_types(
    own: Sequence[Mapping[str, MetricValue]],
) -> list[Mapping[str, MetricValue]]:
    """`own` with device types by name where Triton's in-kernel profiles have a number."""
    return [
        {**metrics, DEVICE_TYPE: _DEVICE_TYPES[number]}
        if CYCLES in metrics and (number := metrics.get(DEVICE_TYPE)) in _DEVICE_TYPES
        else metrics
        for metrics in own
    ]
