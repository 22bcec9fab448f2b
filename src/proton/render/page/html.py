"""Profiles as one page that needs nothing but a browser: the built page with the data in it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from proton.errors import PageNotBuilt
from proton.model.profile import Profile
from proton.render.page import page_data
from proton.render.page.pack import compress

ASSET = "page.html"
PLACE = "<!--proton-data-->"  # in the built page; the data goes here
_ELEMENT = '<script type="application/octet-stream" id="proton-data">{}</script>'


def page_of(profiles: Sequence[Profile]) -> str:
    """The page that shows `profiles`; with exactly two, the second is compared with the first.

    Raises:
        FormatError: In one of them nothing was recorded.
        PageNotBuilt: This installation was made without the page.
    """
    return fill(template(), page_data(profiles))


def fill(page: str, data: bytes) -> str:
    """The built page with `data`, as `page_data` makes it, in its place."""
    head, place, tail = page.partition(PLACE)
    if not place:
        raise PageNotBuilt("the page of this installation has no place for data; build it again")
    return "".join((head, _ELEMENT.format(compress(data)), tail))


def template() -> str:
    """The built page, without data.

    Raises:
        PageNotBuilt: It is not there.
    """
    try:
        return (files("proton.render") / "assets" / ASSET).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PageNotBuilt(
            "this installation has no page, because it was built without Node; "
            "build it with: make web (needs Node 20), then install again"
        ) from None
