"""Profiles for the eyes of others: without the names of hosts, of folders, and of the command.

Every text of a profile is looked at, whichever field it stands in: a field that is added later is
covered, too. What was left out is said in the profile's warnings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

from proton.errors import UsageError
from proton.model.profile import Profile, TreeProfile
from proton.model.trace import Trace
from proton.model.tree import Tree

HOST, PATH, SOURCE = "host", "path", "source"
WORDS = (HOST, PATH, SOURCE)
NO_FOLDER = "…"  # stands for a folder that is left out, and is none
P = TypeVar("P", bound=Profile)
Clean = Callable[[str], str]

_is_python_frame = re.compile(r"(?P<file>.+):(?P<place>\d+@.*)", re.DOTALL).fullmatch
_folder = re.compile(r"(?<![\w.~/])~?/(?:[^\s/:'\"<>|]+/)+").sub


def parse_words(text: str) -> frozenset[str]:
    """What `host,path` asks to leave out.

    Raises:
        UsageError: A word means nothing.
    """
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in WORDS:
            raise UsageError.unknown("thing to leave out:", word, choices=WORDS)
    return frozenset(words)


def redact(profile: P, without: frozenset[str]) -> P:
    """`profile` without what WORDS name: `host` and `path` in any of its texts, and the command.

    Files keep their names and lose their folders. Profiles hold no source text; who makes pages of
    one withholds it there (`source_text.withhold_sources`).
    """
    if not without:
        return profile
    source = _without_folder(profile.source)
    for word, make in ((HOST, _host_cleaner), (PATH, _path_cleaner)):
        if word in without and (clean := make(profile)) is not None:
            profile, source = _cleaned(profile, clean), clean(source)
    if PATH in without:
        header = replace(
            profile.header, command=(), session=os.path.basename(profile.header.session)
        )
        profile = replace(profile, header=header, source=source)
    if HOST in without:
        ranks = tuple(replace(rank, host="") for rank in profile.ranks)
        profile = replace(profile, header=replace(profile.header, host=""), ranks=ranks)
    said = f"left out on request: {', '.join(word for word in WORDS if word in without)}"
    return replace(profile, warnings=(*profile.warnings, said))


def _without_folder(source: str) -> str:
    """Named so that no file of that name in the working folder is taken for it."""
    folder, name = os.path.split(source)
    return f"{NO_FOLDER}/{name}" if folder else source


def _host_cleaner(profile: Profile) -> Clean | None:
    hosts = {profile.header.host, *(rank.host for rank in profile.ranks)} - {""}
    if not hosts:
        return None
    longest_first = sorted(hosts, key=len, reverse=True)
    name = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W_])")
    return lambda text: name.sub("host", text)


def _path_cleaner(profile: Profile) -> Clean:
    """Cuts the folders of paths that the profile names, and of whatever looks like one."""
    known = {path for path in _known_paths(profile) if "/" in path}
    names = {path: os.path.basename(path) for path in known}
    folders = {f"{os.path.dirname(path)}/" for path in known if os.path.isabs(path)}
    longest_first = sorted(folders, key=len, reverse=True)
    known_folder = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def clean(text: str) -> str:
        if "/" not in text or text.startswith(f"{NO_FOLDER}/"):
            return text
        if (name := names.get(text)) is not None:
            return name
        if match := _is_python_frame(text):
            return f"{os.path.basename(match['file'])}:{match['place']}"
        return _folder("", known_folder.sub("", text))

    return clean


def _known_paths(profile: Profile) -> Iterator[str]:
    yield from (rank.source for rank in profile.ranks)
    yield from profile.header.command
    yield profile.source
    if isinstance(profile, TreeProfile):
        yield from (frame.file for frame in profile.tree.frames if frame.file)
    if profile.sampling is not None:
        yield from profile.sampling.files
        yield from (line.file for line in profile.sampling.lines)
    for kernel in profile.in_kernel:
        yield from _files_in(kernel)
    for origins in profile.origins:
        yield origins.wrapper
        yield from _files_in(origins)


def _files_in(value: object) -> Iterator[str]:
    """Every field called `file` in a recorded kernel and below it."""
    if is_dataclass(value):
        for each in fields(value):
            below = getattr(value, each.name)
            if each.name == "file" and isinstance(below, str):
                yield below
            else:
                yield from _files_in(below)
    elif isinstance(value, tuple | list):
        for below in value:
            yield from _files_in(below)


def _cleaned(profile: P, clean: Clean) -> P:
    """`profile` with every text cleaned; equal texts are cleaned once, because spans are many."""
    known: dict[str, str] = {}

    def text(value: str) -> str:
        if (found := known.get(value)) is None:
            found = known[value] = clean(value)
        return found

    source = profile.source
    walk = _Walk(text)
    parts = {
        each.name: walk.value(getattr(profile, each.name))
        for each in fields(profile)
        if each.name != "source"
    }
    return replace(profile, **parts, source=text(source))


class _Walk:
    """Puts values together again with their texts changed."""

    def __init__(self, text: Clean) -> None:
        self._text = text

    def value(self, value: Any) -> Any:
        """`value`, whatever it is made of."""
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, int | float | bytes | Enum):
            return value
        if isinstance(value, Mapping):
            changed = {self.value(key): self.value(each) for key, each in value.items()}
            return MappingProxyType(changed) if isinstance(value, MappingProxyType) else changed
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.value, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self.value, value))
        if is_dataclass(value) and not isinstance(value, type):
            return self._record(value)
        return value

    def _record(self, value: Any) -> Any:
        if isinstance(value, Tree):  # numbers of rows stay as they are
            frames, own = map(self.value, value.frames), map(self.value, value.own)
            return replace(
                value, frames=[*frames], own=[*own], details=self.value(dict(value.details))
            )
        if isinstance(value, Trace):
            return replace(value, lanes=self.value(value.lanes), spans=self.value(value.spans))
        parts = {each.name: self.value(getattr(value, each.name)) for each in fields(value)}
        return replace(value, **parts)
