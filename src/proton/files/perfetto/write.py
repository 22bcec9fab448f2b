"""Profile -> columns from which the native core writes a trace in Perfetto's own format.

Times are whole nanoseconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from proton import _core
from proton.errors import WriteError
from proton.files.encoding.schema import ROOT_NAME
from proton.files.encoding.summary import trace_summary
from proton.files.trace.lanes import row_of_key
from proton.model.metric import MetricKind, Metrics, MetricValue
from proton.model.profile import Profile
from proton.model.span_table import Look, flow_numbers, flow_table, span_table
from proton.model.trace import Lane, LaneKind, Trace

_TIME_LIMIT = 1 << 62
_CTA = re.compile(r".*?(?P<device> GPU \d+)? Core(?P<sm>\d+) CTA\d+", re.DOTALL).fullmatch


def to_perfetto(profile: Profile, trace: Trace) -> bytes:
    """`profile`, which holds `trace`, as a compressed Perfetto trace.

    Raises:
        WriteError: Times are beyond what the format holds.
        PackageMissing: The native core is not installed.
    """
    table = span_table(trace.spans)
    starts = list(map(round, table.start_ns))
    ends = [
        start_ns + max(0, round(duration_ns))
        for start_ns, duration_ns in zip(starts, table.duration_ns, strict=True)
    ]
    first_ns = min(starts, default=0)
    zero_ns = max(0, -first_ns) if trace.base_time_ns is None else trace.base_time_ns
    if zero_ns + min(0, first_ns) < 0 or zero_ns + max(ends, default=0) >= _TIME_LIMIT:
        raise WriteError(
            f"{profile.source}: times are beyond what 64 bits of nanoseconds hold; "
            "write it as chrome_trace"
        )
    paths = _Paths()
    launches: dict[tuple[tuple[str, MetricValue], ...], int] = {(): 0}
    shared: list[tuple[str, int, Metrics, int] | None] = [None] * len(table.looks)
    spans = []
    for at, lane, start_ns, end_ns in zip(table.look, table.lane, starts, ends, strict=True):
        if (found := shared[at]) is None:  # numbers are given as spans first need them
            look = table.looks[at]
            number = launches.setdefault(tuple(look.attributes.items()), len(launches))
            found = shared[at] = look.kind.value, paths.number(look), look.metrics, number
        kind, path, metrics, launch = found
        spans.append((kind, lane, path, start_ns, end_ns, metrics, launch))
    header = profile.header
    flows = flow_table(trace.flows)
    return _core.encode_perfetto(
        lanes=list(map(_lane, trace.lanes)),
        paths=list(paths.listed()),
        spans=spans,
        attributes=list(map(dict, launches))[1:],
        flows=list(
            zip(flows.source, flows.target, flow_numbers(flows, by_source=False), strict=True)
        ),
        properties=[
            name for name, kind in profile.metric_kinds.items() if kind is MetricKind.PROPERTY
        ],
        header={"session": header.session, "pid": header.pid, "command": header.command},
        summary=json.dumps(trace_summary(profile), ensure_ascii=False, allow_nan=False),
        zero_ns=zero_ns,
        has_unix_time=trace.base_time_ns is not None,
    )


def _lane(lane: Lane) -> tuple[str, str, int, str, str, str, str]:
    """Kind, name, place, CTA, multiprocessor, key and title.

    A warp stands below its CTA, and that below its multiprocessor. The row that it was read from
    has texts for ids, as in chrome traces: `kernel Core3 CTA5` and `warp 0 (line 0)`.
    """
    name, process, sm = lane.name, "", ""
    row = row_of_key(lane.key) if lane.kind is LaneKind.WARP else None
    if row is not None:
        name, process = str(row.tid), str(row.pid)
        if cta := _CTA(process):
            sm = f"GPU{(cta['device'] or '')[4:]} SM {cta['sm']}"
    return lane.kind.value, name, lane.sort, process, sm, lane.key, lane.name


class _Paths:
    """Every path of a trace with its number: 0 is the root, and a name alone has one too."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...] | str, int] = {(): 0}
        self._parents: list[int | None] = [0]

    def number(self, look: Look) -> int:
        """The number of the path of spans that look so."""
        if not look.path:
            return self._add(look.name, None)
        if (known := self._numbers.get(look.path)) is not None:
            return known
        parent = 0
        for size in range(1, len(look.path) + 1):
            parent = self._add(look.path[:size], parent)
        return parent

    def _add(self, path: tuple[str, ...] | str, parent: int | None) -> int:
        number = self._numbers.setdefault(path, len(self._numbers))
        if number == len(self._parents):
            self._parents.append(parent)
        return number

    def listed(self) -> Iterator[tuple[int | None, str]]:
        """The parent and the name of each."""
        for path, parent in zip(self._numbers, self._parents, strict=True):
            yield parent, path if isinstance(path, str) else (path or (ROOT_NAME,))[-1]
