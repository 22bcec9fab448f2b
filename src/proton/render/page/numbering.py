"""Numbers for what the source part names many times: files, places in them, and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Place = tuple[str, int]  # file and line


class Numbering:
    """Files, places and reasons in the order in which they came up; their places are numbers."""

    def __init__(self, reasons: Iterable[str] = ()) -> None:
        """`reasons`: those that come first."""
        self.files: dict[str, int] = {}
        self.places: dict[Place, int] = {}
        self.reasons: dict[str, int] = {name: number for number, name in enumerate(reasons)}

    def places_of(self, stack: Iterable[Place]) -> list[int]:
        """The numbers of a stack's places."""
        numbers = []
        for place in stack:
            self.files.setdefault(place[0], len(self.files))
            numbers.append(self.places.setdefault(place, len(self.places)))
        return numbers

    def reasons_of(self, counts: Mapping[str, int]) -> list[list[int]]:
        """Numbers of reasons with their samples, the most frequent first."""
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [
            [self.reasons.setdefault(name, len(self.reasons)), count]
            for name, count in ranked
            if count
        ]
