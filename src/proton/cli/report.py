"""`proton report FILE... [-o PAGE]`: profiles as one page that needs nothing but a browser."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from proton.cli.progress import busy
from proton.errors import UsageError

USAGE = """\
usage: proton report FILE... [-o PAGE]

Writes one page that shows the profiles: no network, no server, opens from anywhere. FILE is a
profile of any format of proton; a set of .part_N files is read as one. With several files the page
switches between them; with exactly two it also compares the second with the first.

options:
  -o, --output PAGE   where to; default: the name of the first file with .html

examples:
  proton report run.hatchet
  proton report trace.pftrace -o ticket.html
  proton report before.hatchet after.hatchet -o diff.html"""
_SUFFIX = ".html"


@dataclass(frozen=True, slots=True)
class Request:
    """The words of the command."""

    sources: tuple[str, ...]
    output: str


def run(words: Sequence[str]) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, a file is no profile, this installation has no page, or the
            page cannot be written.
    """
    if any(word in ("-h", "--help") for word in words):
        print(USAGE)
        return 0
    request = _parse(words)
    was_collecting = gc.isenabled()
    gc.disable()  # everything lives until the end: looking for cycles would only cost time
    try:
        lines = _write(request)
    finally:
        if was_collecting:
            gc.enable()
    print(*(f"proton: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def _write(request: Request) -> list[str]:
    """Make the page; what there is to say of it."""
    from proton.files.detect import open_profile  # readers load msgpack: not for --help
    from proton.files.write import write_file
    from proton.render.html import fill, template
    from proton.render.page import page_data

    page = template()  # first: what is missing is said before long work
    profiles = []
    for source in request.sources:
        with busy(f"reading {source}"):
            profiles.append(open_profile(source))
    with busy(f"writing {request.output}"):
        content = fill(page, page_data(profiles)).encode("utf-8")
        write_file(request.output, content)
    lines = [line for profile in profiles for line in profile.warnings]
    return [*lines, f"wrote {request.output} ({_size(len(content))}); open it in a browser"]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} KB"


def _parse(words: Sequence[str]) -> Request:
    sources: list[str] = []
    output: str | None = None
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-o", "--output"):
            if not rest:
                raise UsageError(f"report: {word} needs a file; as in: -o page.html")
            output = rest.pop(0)
        elif word.startswith("--output="):
            output = word.partition("=")[2]
        elif word == "--":
            sources += rest
            break
        elif word.startswith("-"):
            raise UsageError(f"report: unknown option {word!r}; see: proton report --help")
        else:
            sources.append(word)
    if not sources:
        raise UsageError("report needs a profile; as in: proton report run.hatchet")
    target = output or _default_output(sources[0])
    if os.path.realpath(target) in map(os.path.realpath, sources):
        raise UsageError(f"{target}: is one of the profiles; give the page another name")
    if os.path.splitext(target)[1].removeprefix(".") in _known_suffixes():
        raise UsageError(f"{target}: is named like a profile; end the page's name in {_SUFFIX}")
    return Request(tuple(sources), target)


def _default_output(source: str) -> str:
    """The name of the page: that of the profile with another suffix, in the same folder."""
    stem, suffix = os.path.splitext(source)
    return (stem if suffix.removeprefix(".") in _known_suffixes() else source) + _SUFFIX


def _known_suffixes() -> set[str]:
    from proton.files.schema import FORMAT_OF_SUFFIX

    return {*FORMAT_OF_SUFFIX, "json"}
