"""Recordings whose names want to be more than names: script, markup, keys, odd letters."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from proton.errors import ProtonError
from proton.files.read import read_profile
from proton.render.page import page_data
from tests.support.pages import unpack

CANARY = "protonCanary"  # a global of the page that must stay unset
_SET = f"window.{CANARY}=1"
NAMES = (
    f"</script><script>{_SET}</script>",
    f"<img src=x onerror={_SET}>",
    f'"><svg onload="{_SET}">',
    f"' onmouseover='{_SET}' x='",
    f"javascript:{_SET}",
    f"<iframe srcdoc='<script>parent.{CANARY}=1</script>'>",
    "<!--<script>",
    "]]></textarea></title></style>",
    f"${{{_SET}}}{{{{constructor.constructor('{_SET}')()}}}}",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "\u202egnp.\u2066exe\u2069",
    "\x1b[31m\x07\r\n\t",
    "a\u0301\u200b\ufeff\U0001f3f3\ufe0f\u200d\U0001f308",
    "&lt;b&gt;&amp;",
    "../../etc/passwd",
    "",
)
LONG = "W" * 10_000
Parts = frozenset[str]


def hostile(recording: bytes) -> bytes:
    """The recording (JSON) with a hostile name in every place where one is possible.

    A place is where a text may stand: all of one key at one depth. Those where another text is no
    profile any more, or takes a part of the page away, keep theirs.
    """
    value = json.loads(recording)
    wanted = parts_of(recording)
    for place in sorted(set(_places(value))):
        changed = json.loads(json.dumps(value))
        _change(changed, place)
        if _parts_or_none(json.dumps(changed).encode()) == wanted:
            value = changed
    return json.dumps(value).encode()


def parts_of(recording: bytes) -> Parts:
    """The parts that the page of a recording has."""
    head, _ = unpack(page_data([read_profile(recording, "x")]))
    return frozenset(name for name, part in head["profiles"][0].items() if part is not None)


def _parts_or_none(recording: bytes) -> Parts | None:
    try:
        return parts_of(recording)
    except ProtonError:
        return None


Place = tuple[str, ...]


def _places(value: Any) -> Iterator[Place]:
    """Where texts stand: keys from the top, `*` for every element, `key` at the end for keys."""
    pending: list[tuple[Place, Any]] = [((), value)]
    while pending:
        place, part = pending.pop()
        if isinstance(part, str):
            yield place
        elif isinstance(part, list):
            pending += (((*place, "*") if place[-1:] != ("*",) else place, each) for each in part)
        elif isinstance(part, dict):
            for key, each in part.items():
                below = _without_repetition(place, key)
                pending.append((below, each))
                if place[-1:] in (
                    ("losses",),
                    ("kwargs",),
                    ("args",),
                    ("uncovered",),
                    ("metrics",),
                ):
                    yield (*place, f"key {key}")


def _without_repetition(place: Place, key: str) -> Place:
    """Children of children are the same place as children."""
    if key == "children" and "children" in place:
        return place[: place.index("children") + 1]
    return (*place, key)


def _change(value: Any, place: Place) -> None:
    """Put another of `NAMES` in front of every text at `place`."""
    names = itertools.cycle((*NAMES, LONG))
    pending: list[tuple[Place, Any]] = [((), value)]
    while pending:
        here, part = pending.pop()
        if isinstance(part, list):
            below = (*here, "*") if here[-1:] != ("*",) else here
            for at, each in enumerate(part):
                if isinstance(each, str) and below == place:
                    part[at] = next(names) + each
                else:
                    pending.append((below, each))
        elif isinstance(part, dict):
            for key, each in list(part.items()):
                below = _without_repetition(here, key)
                if (*here, f"key {key}") == place:
                    part[next(names) + key] = part.pop(key)
                elif isinstance(each, str) and below == place:
                    part[key] = next(names) + each
                else:
                    pending.append((below, each))
