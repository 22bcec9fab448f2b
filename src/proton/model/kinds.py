"""How the values of a metric add up in a profile, whoever wrote it."""

from __future__ import annotations

from proton.model.metric import CPU_TIME_NS, DEVICE_ID, DEVICE_TYPE, MetricKind
from proton.model.profile import Profile, TreeProfile

LABELS = (DEVICE_ID, DEVICE_TYPE)


def kind_of(profile: Profile, metric: str) -> MetricKind:
    """How values of `metric` add up.

    Our files say so. In files of other tools the root carries a zero for each inclusive metric.
    """
    if (kind := profile.metric_kinds.get(metric)) is not None:
        return kind
    if metric in LABELS:
        return MetricKind.PROPERTY
    if metric == CPU_TIME_NS:
        return MetricKind.EXCLUSIVE
    if profile.header.proton_version or not isinstance(profile, TreeProfile):
        return MetricKind.INCLUSIVE
    if not profile.tree.own[0]:
        return MetricKind.INCLUSIVE
    return MetricKind.INCLUSIVE if metric in profile.tree.own[0] else MetricKind.EXCLUSIVE
