"""What a local server shows: some recordings in one page, or a folder of them with an index.

A path of a URL never becomes a path of a file: names are looked up among the recordings that the
given files and folder hold.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from proton.errors import FormatError, StillGrowing
from proton.files.encoding.schema import FORMAT_OF_SUFFIX
from proton.files.growing import StoredProfile, find_recording, find_recordings, open_growing, stamp
from proton.model.profile import Profile
from proton.render.page import page_data
from proton.render.page.html import PLACE, template
from proton.render.page.pack import to_json
from proton.render.server.folder import FolderData, FolderFacts, folder_data

DATA = "data"
CHANGES = "changes"
VIEW = "view"  # /view/NAME/ is a page of a folder, /view/NAME/OTHER/ compares two
_KEPT = 2  # packed recordings that are kept in memory
_MOST_COMPARED = 2
_LEARN_S = 0.3  # for what the index tells of recordings; the rest comes with the next look

# What stands where a page has its data: where they are fetched from, or the index of a folder.
_LIVE = f'<script type="application/octet-stream" id="proton-data" data-live="{DATA}"></script>'
_FOLDER = '<script type="application/json" id="proton-folder">{}</script>'

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    """What is sent back."""

    status: HTTPStatus
    kind: str
    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Maker:
    """What turns profiles into pages."""

    page: Callable[[str], str]  # with an element in the place of its data
    pack: Callable[[Sequence[Profile]], bytes]


def page_maker() -> Maker:
    """The maker of the real pages.

    Raises:
        PageNotBuilt: This installation was made without them.
    """
    page = template()
    return Maker(lambda element: page.replace(PLACE, element), page_data)


def folder_element(data: FolderData) -> str:
    """The index of a folder as an element of the page; no name in it can end the element."""
    return _FOLDER.format(to_json(data).decode().replace("<", "\\u003c"))


def _where(folder: Path) -> str:
    """What to do where a folder holds no recording: look into one below it, or for other names."""
    for below in sorted(folder.iterdir()):
        is_ours = below.is_dir() and not below.is_symlink() and os.access(below, os.R_OK | os.X_OK)
        if is_ours and (found := len(find_recordings(below))):
            return f"there {'are' if found > 1 else 'is'} {found} in {below}: serve that"
    return f"they end in {', '.join(f'.{suffix}' for suffix in FORMAT_OF_SUFFIX)}"


class Place(NamedTuple):
    """What a path of a URL means: `names` of recordings (none: the folder), and what of them."""

    names: tuple[str, ...]
    what: str  # "" for the page, DATA or CHANGES


class Site:
    """The given files in one page, or the recordings of one folder. Safe to use from threads."""

    def __init__(self, paths: Sequence[str], maker: Maker) -> None:
        """Look whether there is something to serve.

        Raises:
            FormatError: A file is missing, or a folder holds no recording.
        """
        self._paths = tuple(paths)
        self._maker = maker
        self._folder = Path(paths[0]) if len(paths) == 1 and os.path.isdir(paths[0]) else None
        self._packed: dict[tuple[str, ...], tuple[str, bytes]] = {}
        self._packing = threading.Lock()
        self._facts = FolderFacts()
        if self._folder is not None and not find_recordings(self._folder):
            raise FormatError(f"{self._folder}: no profile in this folder; {_where(self._folder)}")
        if self._folder is None:
            for path in paths:
                if os.path.isdir(path):
                    raise FormatError(f"{path}: a folder among files; serve it alone")
                find_recording(path)

    @property
    def name(self) -> str:
        """What is served, for people."""
        return ", ".join(self._paths)

    def prepare(self) -> str:
        """Read the given files ahead of the first page; what is wrong with one that still grows.

        Raises:
            FormatError: A file is no profile.
        """
        if self._folder is None:
            try:
                self._pack_now(Place((), DATA))
            except FormatError as error:
                is_open = any(each.is_open for each in self._find(Place((), DATA)) or ())
                if not (is_open or isinstance(error, StillGrowing)):
                    raise
                return str(error)
        return ""

    def place(self, path: str) -> Place | None:
        """What the path of a URL means; None for nothing that is here."""
        quoted = path.removeprefix("/").split("/")
        words = [unquote(word, errors="surrogateescape") for word in quoted]
        what = words.pop()
        if what not in ("", DATA, CHANGES):
            return None
        if not words:
            return Place((), what) if self._folder is None or what != DATA else None
        if self._folder is None or words[0] != VIEW or not 1 < len(words) <= 1 + _MOST_COMPARED:
            return None
        place = Place(tuple(words[1:]), what)
        return None if self._find(place) is None else place

    def answer(self, place: Place) -> Answer:
        """The page or the data of a place."""
        if place.what == DATA:
            return self._data(place)
        is_index = self._folder is not None and not place.names
        element = folder_element(self._index()) if is_index else _LIVE
        return Answer(HTTPStatus.OK, HTML, self._maker.page(element).encode(), {})

    def version(self, place: Place) -> str:
        """A text that changes whenever the files behind a place do."""
        if self._folder is not None and not place.names:
            try:
                found = find_recordings(self._folder)
            except FormatError:
                found = []
            known = self._facts.learn(found, _LEARN_S)
        else:
            found, known = self._find(place) or [], 0
        stamps = repr([known, *((each.name, stamp(each)) for each in found)])
        return hashlib.sha256(stamps.encode()).hexdigest()[:16]

    def _find(self, place: Place) -> list[StoredProfile] | None:
        """The recordings of a place as they are now; None where one is missing."""
        try:
            if self._folder is None:
                return [find_recording(path) for path in self._paths]
            there = find_recordings(self._folder)
        except FormatError:
            return None
        by_name = {each.stem: each for each in there} | {each.name: each for each in there}
        found = [by_name[name] for name in place.names if name in by_name]
        return found if len(found) == len(place.names) else None

    def _data(self, place: Place) -> Answer:
        try:
            version, packed = self._pack_now(place)
        except FormatError as error:
            text = str(error).encode(errors="replace")
            return Answer(HTTPStatus.CONFLICT, TEXT, text, {})
        headers = {"ETag": f'"{version}"', "Content-Encoding": "gzip"}
        return Answer(HTTPStatus.OK, "application/octet-stream", packed, headers)

    def _pack_now(self, place: Place) -> tuple[str, bytes]:
        """The version of a place and its data, packed anew if they changed."""
        with self._packing:  # one at a time: packing takes a core and memory
            version = self.version(place)  # before reading: what comes later is the next one
            known = self._packed.pop(place.names, None)
            if known is None or known[0] != version:
                known = (version, self._pack(place))
            self._packed[place.names] = known
            while len(self._packed) > _KEPT:
                del self._packed[next(iter(self._packed))]
            return known

    def _pack(self, place: Place) -> bytes:
        recordings = self._find(place)
        if recordings is None:
            what = " ".join(place.names or self._paths)
            raise FormatError(f"{what}: no such file any more")
        profiles = [open_growing(each) for each in recordings]
        return gzip.compress(self._maker.pack(profiles), compresslevel=1)

    def _index(self) -> FolderData:
        assert self._folder is not None
        try:
            found = find_recordings(self._folder)
        except FormatError as error:
            return folder_data(self._folder, [], problem=str(error))
        self._facts.learn(found, _LEARN_S)
        shown = self._folder if self._folder.name else self._folder.resolve()
        return folder_data(shown, found, self._facts.of)
