"""Names of profile files: placeholders, suffixes, parts. Pure: reads nothing, writes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from proton.errors import UsageError

DEFAULT_PROFILE_NAME = "proton"
STDOUT_NAMES = ("", "-")
LONGEST_NAME_BYTES = 255  # of a file in its folder, suffix included

# data kind -> the formats that can hold it, the default first
FORMATS = {"tree": ("hatchet", "hatchet_msgpack"), "trace": ("chrome_trace", "perfetto")}
ALL_FORMATS = tuple(name for names in FORMATS.values() for name in names)
TEXT_FORMATS = ("hatchet", "chrome_trace")  # the others are bytes
_SUFFIXES = {"perfetto": "pftrace"}  # of the formats whose files do not end in their name


def fill(name: str, values: Mapping[str, object]) -> str:
    """`name` with each `{key}` of `values` filled in; other braces stay as they are."""
    for key, value in values.items():
        name = name.replace(f"{{{key}}}", str(value))
    return name


def pick_format(output_format: str, data: str) -> str:
    """The format to write a `data` session in; `""` picks the default.

    Raises:
        UsageError: no such format, or it cannot hold this kind of data.
    """
    if output_format == "":
        return FORMATS[data][0]
    if output_format not in ALL_FORMATS:
        raise UsageError.unknown("output format", output_format, choices=ALL_FORMATS)
    if output_format not in FORMATS[data]:
        choices = ", ".join(map(repr, FORMATS[data]))
        raise UsageError(
            f"output format {output_format!r} cannot hold a {data} session; choose one of {choices}"
        )
    return output_format


def file_name(stem: str, output_format: str, part: int | None = None) -> str:
    """`run.hatchet`, or `run.part_3.hatchet` for a phase of a session that has several."""
    middle = "" if part is None else f".part_{part}"
    return f"{stem}{middle}.{_SUFFIXES.get(output_format, output_format)}"
