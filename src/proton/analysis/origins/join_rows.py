"""Rows of kernels joined with the lines that they come from.

The name joins them. Graphs may have kernels of one name: the generated file tells them apart where
it is among the frames above the row, else their lines are united. Calls to libraries are joined by
that file and its line alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton.analysis.folding.library_frames import python_place
from proton.model.frame import FrameKind
from proton.model.origins import KernelOrigins, OriginLine, join_lines
from proton.model.profile import TreeProfile
from proton.model.tree import Tree


@dataclass(frozen=True, slots=True)
class FoundOrigins:
    """The lines that one kernel was made of."""

    lines: tuple[OriginLine, ...]
    is_united: bool = False  # of several kernels with this name, which nothing tells apart
    is_partial: bool = False  # there may be more lines
    left_out: int = 0


def origins_of_rows(profile: TreeProfile) -> Mapping[int, FoundOrigins]:
    """Row of a kernel -> its origins; rows that have none are left out."""
    if not profile.origins:
        return {}
    join = _Join(profile.origins)
    found: dict[int, FoundOrigins] = {}
    for row, frame in enumerate(profile.tree.frames):
        if frame.kind is FrameKind.KERNEL:
            origins = join.find(profile.tree, row)
            if origins is not None and origins.lines:
                found[row] = origins
    return found


class _Join:
    def __init__(self, origins: Sequence[KernelOrigins]) -> None:
        self._by_name: dict[str, list[KernelOrigins]] = defaultdict(list)
        self._by_call: dict[tuple[str, int], KernelOrigins] = {}
        self._united: dict[str, FoundOrigins] = {}
        for each in origins:
            if each.wrapper_line:
                self._by_call[_file_name(each.wrapper), each.wrapper_line] = each
            else:
                self._by_name[each.kernel].append(each)

    def find(self, tree: Tree, row: int) -> FoundOrigins | None:
        """The origins of the kernel in `row`."""
        name = tree.frames[row].name
        candidates = self._by_name.get(name, [])
        if len(candidates) == 1:
            return _found(candidates[0])
        if not candidates and not self._by_call:
            return None
        while (row := tree.parents[row]) >= 0:
            file, line = python_place(tree.frames[row])
            if file is None:
                continue
            above = _file_name(file)
            own = [each for each in candidates if _file_name(each.wrapper) == above]
            if own:
                return _found(own[0])
            if not candidates and (call := self._by_call.get((above, line))) is not None:
                return _found(call)
        return self._unite(name, candidates) if candidates else None

    def _unite(self, name: str, candidates: Sequence[KernelOrigins]) -> FoundOrigins:
        if name not in self._united:
            self._united[name] = FoundOrigins(
                join_lines(line for each in candidates for line in each.lines),
                is_united=True,
                is_partial=any(each.is_partial for each in candidates),
                left_out=sum(each.left_out for each in candidates),
            )
        return self._united[name]


def _file_name(path: str) -> str:
    """Generated files are named after their content: the name is enough, wherever caches lie."""
    return path.rpartition("/")[2]


def _found(origins: KernelOrigins) -> FoundOrigins:
    return FoundOrigins(
        tuple(origins.lines), is_partial=origins.is_partial, left_out=origins.left_out
    )


def origins_by_name(profile: TreeProfile) -> Mapping[str, FoundOrigins]:
    """Name of a kernel -> its origins over all its contexts."""
    found: dict[str, list[FoundOrigins]] = defaultdict(list)
    for row, each in origins_of_rows(profile).items():
        if each not in found[profile.tree.frames[row].name]:
            found[profile.tree.frames[row].name].append(each)
    return {
        name: FoundOrigins(
            join_lines(line for each in parts for line in each.lines),
            is_united=any(each.is_united for each in parts),
            is_partial=any(each.is_partial for each in parts),
            left_out=max(each.left_out for each in parts),
        )
        for name, parts in found.items()
    }
