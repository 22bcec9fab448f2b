"""Frames from the names of a file: what kind each is, and the places that names spell out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from proton.model.frame import Frame, FrameKind
from proton.model.metric import DEVICE_ID, DEVICE_TYPE, TIME_NS, MetricValue

LETTERS = frozenset(kind.value for kind in FrameKind)
_PLACE = re.compile(r"(.+):(\d{1,9})@(.+)", re.DOTALL).fullmatch
_LAUNCH_METADATA = "__proton_launch_metadata"
_SAMPLES = "num_samples"
_CYCLES = "cycles"
_DEVICE_TYPES = {"0": "HIP", "1": "CUDA"}  # Triton's numbers for them, beside cycles only


class _Frames(dict[tuple[str, str], Frame]):
    """(name, kind letter) -> its frame, made when first asked for."""

    def __missing__(self, key: tuple[str, str]) -> Frame:
        name, letter = key
        if letter in "pl" and (place := _PLACE(name)):
            file, line, function = place.groups()
            frame = Frame(name, FrameKind(letter), file, int(line), function)
        else:
            frame = Frame(name, _KINDS[letter])
        self[key] = frame
        return frame


class _Letters(dict[str, str]):
    """Name -> the letter that the name alone suggests."""

    def __missing__(self, name: str) -> str:
        if "@" in name and _PLACE(name):
            letter = "p"
        else:
            letter = "t" if name.startswith(_LAUNCH_METADATA) else "s"
        self[name] = letter
        return letter


_KINDS = {kind.value: kind for kind in FrameKind}


def frames_of(names: Iterable[str], kinds: Iterable[str]) -> list[Frame]:
    """One frame a row; equal frames are one object."""
    return list(map(_Frames().__getitem__, zip(names, kinds, strict=True)))


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
    letters: list[str] = []
    for name, metrics, parent in zip(names, own, parents, strict=True):
        if DEVICE_ID in metrics and TIME_NS in metrics:
            letter = "k"
        else:
            letter = suggested[name]
            if _CYCLES in metrics and parent > 0 and _CYCLES not in own[parent]:
                letters[parent] = "k"
            if letter == "p" and (_SAMPLES in metrics or (parent >= 0 and letters[parent] in "kl")):
                letter = "l"
        letters.append(letter)
    letters[0] = "r"
    return "".join(letters)


def name_device_types(
    own: Sequence[Mapping[str, MetricValue]],
) -> list[Mapping[str, MetricValue]]:
    """`own` with device types by name where Triton's in-kernel profiles have a number."""
    return [
        {**metrics, DEVICE_TYPE: _DEVICE_TYPES[number]}
        if _CYCLES in metrics and (number := metrics.get(DEVICE_TYPE)) in _DEVICE_TYPES
        else metrics
        for metrics in own
    ]
