"""Help texts on narrow terminals: prose is filled anew, and rows keep their second column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

_ROW = re.compile(r"(?P<head> {2,}\S.* {2,})\S.*")  # its last column is the one that is filled
_LEAST_TEXT_ROOM = 24  # columns; where a row has less for its text, that stands below


class _Block(NamedTuple):
    """Lines that are one paragraph or one row, and the column at which its text stands."""

    lines: list[str]
    text_at: int
    may_grow: bool  # an indented line that is no row stands for itself, as a command does


def fit_usage(words: str, width: int) -> str:
    """The lines of usage, and more of them where an option would not fit."""
    lines: list[str] = []
    for line in f"usage: {words}".split("\n"):
        # An option stays with its value.
        held = re.sub(r"\[[^]]*\]", lambda found: found[0].replace(" ", "\0"), line)
        indent = " " * (len(line) - len(line.lstrip()))
        lines += wrap(
            held.strip(),
            width,
            initial_indent=indent,
            subsequent_indent=" " * len("usage: "),
            break_on_hyphens=False,
        )
    return "\n".join(lines).replace("\0", " ")


def fit_text(text: str, width: int) -> str:
    """`text` in lines of at most `width` columns; what fits stays as it is written."""
    return "\n".join(line for block in _blocks(text) for line in _fitted(block, width))


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if block is not None:
            is_open = line and block.may_grow and not block.lines[-1].endswith(":")
            if is_open and indent == block.text_at:
                block.lines.append(line)
                continue
            yield block
        row = _ROW.fullmatch(line)
        text_at = indent if row is None else row.end("head")
        block = _Block([line], text_at, may_grow=row is not None or not indent)
        if not line:  # a blank line ends a paragraph
            yield block
            block = None
    if block is not None:
        yield block


def _fitted(block: _Block, width: int) -> list[str]:
    first, *others = block.lines
    if max(map(len, block.lines)) <= width:
        return block.lines
    head, start = first[: block.text_at], first[block.text_at :]
    said = " ".join([start, *(line.strip() for line in others)])
    indent = " " * block.text_at
    if head.strip() and width - block.text_at < _LEAST_TEXT_ROOM:
        indent = " " * 6
        below = wrap(
            said, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        return [head.rstrip(), *below]
    return wrap(said, width, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False)
