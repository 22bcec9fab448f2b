"""Traces as the formats can hold them."""

from __future__ import annotations

from dataclasses import replace

from proton.files.trace.lanes import in_order
from proton.model.profile import Profile, TraceProfile


def as_held(profile: Profile, output_format: str) -> Profile:
    """`profile` as it reads back from `output_format`.

    Perfetto's times are whole nanoseconds, its lists have something in them, and its spans have no
    order but theirs.
    """
    if output_format != "perfetto" or not isinstance(profile, TraceProfile):
        return profile
    trace = profile.trace
    spans = [
        span._replace(
            start_ns=float(round(span.start_ns)),
            duration_ns=float(round(span.duration_ns)),
            attributes={key: value for key, value in span.attributes.items() if value != ()},
        )
        for span in trace.spans
    ]
    base_time_ns = trace.base_time_ns if trace.lanes else None  # which stands with the lanes
    return replace(profile, trace=in_order(trace.lanes, spans, trace.flows, base_time_ns))
