"""The `ranks` of a `proton` key: the processes that a merged profile was put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from proton.errors import FormatError
from proton.files.checks import is_number, short
from proton.files.fields import Fields
from proton.model.ranks import Rank


def read_ranks(found: object, source: str) -> tuple[Rank, ...]:
    """The ranks in `found`, the value of that key, or None without it.

    Raises:
        FormatError: It is no list of ranks.
    """
    if found is None:
        return ()
    if type(found) is not list:
        raise FormatError(f"{source}: proton.ranks must be a list, not {short(found)}")
    return tuple(_read(entry, f"proton.ranks[{at}]", source) for at, entry in enumerate(found))


def _read(entry: object, place: str, source: str) -> Rank:
    if type(entry) is not dict:
        raise FormatError(f"{source}: {place} must be an object, not {short(entry)}")
    fields = Fields(source, place, entry)
    if (rank := fields.integer("rank")) is None:
        raise fields.wrong("rank", "an integer")
    for key in ("time_ns", "kernels"):
        if entry.get(key) is not None and not is_number(entry[key]):
            raise fields.wrong(key, "a number")
    return Rank(
        rank=rank,
        source=fields.text("source"),
        host=fields.text("host"),
        pid=fields.integer("pid"),
        device=fields.text("device"),
        time_ns=entry.get("time_ns"),
        kernels=entry.get("kernels"),
        lost=fields.integer("lost") or 0,
    )


def ranks_object(ranks: Sequence[Rank]) -> list[dict[str, Any]]:
    """`ranks` as they stand in a file; what is not known is left out."""
    return [
        {key: value for key, value in asdict(rank).items() if value not in ("", None)}
        for rank in ranks
    ]
