"""The files of several ranks: which they are, whose each is, and all of them as one profile."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from proton.errors import FormatError, UsageError
from proton.files.detect import find_parts, is_part, open_profile
from proton.files.encoding.schema import FORMAT_OF_SUFFIX
from proton.files.export import export_of_path
from proton.files.same_run import RunCheck
from proton.model.merge_ranks import RankMerger
from proton.model.profile import Profile, TreeProfile

LOST_RANKS = "unreadable_ranks"
_RANK = re.compile(r"(?<![a-z])rank[_.-]?(\d{1,9})(?!\d)", re.IGNORECASE)

Track = Callable[[Sequence[str]], Iterable[str]]


def find_files(names: Sequence[str], output: str | None = None) -> list[str]:
    """The profiles that `names` mean: files as they are, folders by what lies in them.

    A set of `.part_N` files is one profile. `output` may lie in the folder if an earlier merge
    wrote it; it is not an input then.

    Raises:
        FormatError: A folder holds no profile, or cannot be read.
        UsageError: A file is named twice, or `output` would replace a profile in the folder.
    """
    found: list[str] = []
    for name in names:
        found += _in_folder(Path(name), output) if os.path.isdir(name) else [name]
    known: set[str] = set()
    for name in found:
        if (real := os.path.realpath(name)) in known:
            raise UsageError(f"{name}: is named twice; a rank can be merged once")
        known.add(real)
    return found


def _in_folder(folder: Path, output: str | None) -> list[str]:
    written = None if output is None else os.path.realpath(output)
    found: dict[str, None] = {}
    try:
        entries = sorted(folder.iterdir(), key=_natural)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror or error}") from None
    for path in entries:
        is_profile = path.suffix.removeprefix(".") in FORMAT_OF_SUFFIX
        if not is_profile or export_of_path(path) or not path.is_file():
            continue
        if is_part(path):
            path = next(iter(find_parts(path).values()))  # the first stands for its set
        if os.path.realpath(path) != written:
            found[os.fspath(path)] = None
        elif not _is_merged(path):
            raise UsageError(
                f"{output}: is a profile of this folder and no earlier result of merge; "
                "give the output another name"
            )
    if not found:
        endings = ", ".join(f".{suffix}" for suffix in FORMAT_OF_SUFFIX)
        raise FormatError(f"{folder}: no profile in this folder; they end in {endings}")
    return list(found)


def _is_merged(path: Path) -> bool:
    try:
        return bool(open_profile(path).ranks)
    except FormatError:
        return False


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts `rank_10` behind `rank_9`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS(path.name)]


_DIGITS = re.compile(r"(\d+)").split


def claimed_rank(profile: Profile, path: str) -> int | None:
    """The rank that a file says it is of, in its header or in its name; None: it says nothing."""
    if profile.header.rank is not None:
        return profile.header.rank
    match = _RANK.search(os.path.basename(path))
    return None if match is None else int(match[1])


def merge_files(
    paths: Sequence[str],
    source: str,
    *,
    by_order: bool = False,
    skip_broken: bool = False,
    allow_strangers: bool = False,
    track: Track = lambda paths: paths,
) -> Profile:
    """One profile of the profiles at `paths`, which are read one by one.

    Args:
        paths: Files of ranks.
        source: What the merged profile is called.
        by_order: Number the ranks as they are given, whatever the files say.
        skip_broken: Leave out files that cannot be read; what was left out is counted and said.
        allow_strangers: Merge profiles of unrelated programs, too.
        track: Goes through the paths and may show how far it is.

    Raises:
        FormatError: A file cannot be read, or is a trace among trees.
        UsageError: Two files are of one rank, only some say whose they are, or they are of
            programs that have nothing in common.
    """
    merger = RankMerger()
    # who numbers files himself may merge what ran one after the other, and several programs
    check = RunCheck(allows_strangers=allow_strangers or by_order, ran_together=not by_order)
    taken: dict[int, str] = {}
    broken: list[str] = []
    first: tuple[str, bool, bool] | None = None  # path, is a tree, says its rank
    for path in track(paths):
        try:
            profile = open_profile(path)
        except FormatError as error:
            if not skip_broken:
                raise FormatError(
                    f"{error}; nothing was written: --skip-broken merges the others"
                ) from None
            broken.append(str(error))
            continue
        claimed = None if by_order else claimed_rank(profile, path)
        says_rank = claimed is not None or (bool(profile.ranks) and not by_order)
        if first is None:
            first = (path, isinstance(profile, TreeProfile), says_rank)
        _check_alike(path, isinstance(profile, TreeProfile), says_rank, first)
        own = len(taken) if claimed is None else claimed
        numbers = [each.rank for each in profile.ranks] or [own]
        if by_order and profile.ranks:
            numbers = [len(taken) + at for at in range(len(numbers))]
            ranks = tuple(replace(r, rank=n) for r, n in zip(profile.ranks, numbers, strict=True))
            profile = replace(profile, ranks=ranks)
        for number in numbers:
            if number in taken:
                raise UsageError(
                    f"{path}: rank {number}, but so is {taken[number]}; merge the ranks of one "
                    "run, or number them as given with --by-order"
                )
            taken[number] = path
        check.add(profile, path)
        merger.add(profile, numbers[0])
    if first is None:
        raise FormatError(f"{broken[0]}; none of {len(paths)} files can be read")
    merged = merger.result(source, [*_notes(taken, broken), *check.notes()])
    if broken:
        losses = {**merged.losses, LOST_RANKS: merged.losses.get(LOST_RANKS, 0) + len(broken)}
        merged = replace(merged, losses=losses)
    return merged


def _check_alike(path: str, is_tree: bool, says_rank: bool, first: tuple[str, bool, bool]) -> None:
    other, first_is_tree, first_says_rank = first
    if is_tree != first_is_tree:
        kinds = ("a tree", "a trace") if is_tree else ("a trace", "a tree")
        raise FormatError(f"{path}: {kinds[0]}, but {other} is {kinds[1]}; merge them apart")
    if says_rank != first_says_rank:
        silent, speaking = (other, path) if says_rank else (path, other)
        raise UsageError(
            f"{silent}: does not say its rank, but {speaking} does; number them as given with "
            "--by-order"
        )


def _notes(taken: dict[int, str], broken: Sequence[str]) -> list[str]:
    notes = [f"left out: {text}" for text in broken[:8]]
    if len(broken) > 8:
        notes.append(f"left out: {len(broken) - 8} more files that could not be read")
    size = max(taken) + 1
    if missing := size - len(taken):
        shown = [str(rank) for rank in range(size) if rank not in taken][:8]
        more = ", ..." if missing > 8 else ""
        notes.append(f"{missing} of {size} ranks are missing: {', '.join(shown)}{more}")
    return notes
