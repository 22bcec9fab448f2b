"""pprof's protobuf: all metrics of a tree as sample types, one sample a context.

`go tool pprof` and what understands its files read it. Numbers there are whole; losses, warnings
and the command stand in its comments. Writing only.
"""

from __future__ import annotations

import gzip

from proton.files.encoding.protobuf import bytes_field, number_field, text_field, varint
from proton.files.export.stacks import (
    UNITS,
    Exported,
    Place,
    Stacks,
    place_of,
    refuse_endless,
    stacks_of,
)
from proton.model.metric import DEVICE_ID, DEVICE_TYPE
from proton.model.profile import Profile, TreeProfile
from proton.model.tree import Tree

_DEVICE = "device"


class _Profile:
    """Numbers of the fields of pprof's messages, as profile.proto gives them."""

    SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT = 1, 2, 3, 4, 5, 6
    TIME_NANOS, DURATION_NANOS, COMMENT, DEFAULT_TYPE = 9, 10, 13, 14
    TYPE, UNIT = 1, 2  # of a ValueType
    LOCATION_IDS, VALUES, LABEL = 1, 2, 3  # of a Sample
    KEY, STR = 1, 2  # of a Label
    ID, MAPPING_ID, LINE = 1, 2, 4  # of a Location
    FUNCTION_ID, NUMBER = 1, 2  # of a Line
    NAME, SYSTEM_NAME, FILE = 2, 3, 4  # of a Function, after its ID
    MAPPED_FILE = 5  # of a Mapping, after its ID
    IS_RESOLVED = (7, 8, 9, 10)  # of a Mapping: functions, files, lines and inlining are known


class _Texts:
    """The table of texts; the first is empty, as the format demands."""

    def __init__(self) -> None:
        self._numbers = {"": 0}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def fields(self) -> bytes:
        return b"".join(text_field(_Profile.TEXT, text) for text in self._numbers)


def export(profile: TreeProfile, metric: str | None = None) -> Exported:
    """`profile` gzipped as pprof wants it; `metric` is the one shown first.

    Raises:
        MetricNotFound: There is no such metric, or none that adds up.
        UsageError: Stacks are too deep to spell them all out.
    """
    tree = profile.tree
    stacks = stacks_of(profile, tree)
    first = stacks.weights[0] if metric is None else stacks_of(profile, tree, metric).weights[0]
    refuse_endless(profile, tree, stacks.weights)
    texts = _Texts()
    message = bytearray()
    for each in stacks.weights:
        unit = UNITS.get(each.unit) or each.unit or ("bytes" if each.name == "bytes" else "count")
        value_type = number_field(_Profile.TYPE, texts.number(each.name))
        value_type += number_field(_Profile.UNIT, texts.number(unit))
        message += bytes_field(_Profile.SAMPLE_TYPE, value_type)
    message += _samples(tree, stacks, texts)
    message += _header(profile, texts)
    message += number_field(_Profile.DEFAULT_TYPE, texts.number(first.name))
    message += texts.fields()
    return Exported(gzip.compress(bytes(message), mtime=0), stacks.notes + _fractions(stacks))


def _samples(tree: Tree, stacks: Stacks, texts: _Texts) -> bytes:
    """The samples, and the places that they name: a location and a function a place."""
    numbers: dict[Place, int] = {}
    ids = [varint(numbers.setdefault(place_of(f), len(numbers) + 1)) for f in tree.frames]
    message = bytearray()
    path: list[bytes] = []
    for row, depth in enumerate(tree.depths()):
        path[depth:] = [ids[row]]
        values = [round(each.own[row]) for each in stacks.weights]
        if not any(values):
            continue
        stack = b"".join(reversed(path[1:] or path))  # the leaf comes first, the root is implied
        sample = bytes_field(_Profile.LOCATION_IDS, stack)
        sample += bytes_field(_Profile.VALUES, b"".join(map(varint, values)))
        if device := tree.own[row].get(DEVICE_ID):
            where = f"{tree.own[row].get(DEVICE_TYPE, '')} {device}".strip()
            label = number_field(_Profile.KEY, texts.number(_DEVICE))
            sample += bytes_field(
                _Profile.LABEL, label + number_field(_Profile.STR, texts.number(where))
            )
        message += bytes_field(_Profile.SAMPLE, sample)
    for place, number in numbers.items():
        line = number_field(_Profile.FUNCTION_ID, number) + number_field(
            _Profile.NUMBER, place.line
        )
        location = number_field(_Profile.ID, number) + number_field(_Profile.MAPPING_ID, 1)
        location += bytes_field(_Profile.LINE, line)
        function = number_field(_Profile.ID, number)
        function += number_field(_Profile.NAME, texts.number(place.name))
        function += number_field(_Profile.SYSTEM_NAME, texts.number(place.name))
        function += number_field(_Profile.FILE, texts.number(place.file))
        message += bytes_field(_Profile.LOCATION, location)
        message += bytes_field(_Profile.FUNCTION, function)
    return bytes(message)


def _header(profile: Profile, texts: _Texts) -> bytes:
    header = profile.header
    mapping = number_field(_Profile.ID, 1)
    mapping += number_field(_Profile.MAPPED_FILE, texts.number(header.session or profile.source))
    mapping += b"".join(number_field(field, 1) for field in _Profile.IS_RESOLVED)
    message = bytes_field(_Profile.MAPPING, mapping)
    if header.start_time_ns is not None:
        message += number_field(_Profile.TIME_NANOS, header.start_time_ns)
        if header.end_time_ns is not None:
            duration_ns = max(header.end_time_ns - header.start_time_ns, 0)
            message += number_field(_Profile.DURATION_NANOS, duration_ns)
    comments = [" ".join(header.command)] if header.command else []
    comments += [f"device: {each.name or each.arch}" for each in profile.devices]
    comments += [f"lost: {count} {kind}" for kind, count in profile.losses.items() if count]
    comments += [f"warning: {text}" for text in profile.warnings]
    return message + b"".join(
        number_field(_Profile.COMMENT, texts.number(text)) for text in comments if text
    )


def _fractions(stacks: Stacks) -> tuple[str, ...]:
    cut = [each.metric for each in stacks.weights if any(value % 1 for value in each.own)]
    return (f"rounded, as pprof holds whole numbers: {', '.join(cut)}",) if cut else ()
