"""The lines above a view: what the file holds, its ranks, what was lost, what to beware of."""

from __future__ import annotations

from collections import Counter

from proton.analysis.measurements import whole_of
from proton.model.device import INTERPRETED, Device
from proton.model.metric import COUNT, TIME_NS
from proton.model.profile import Profile, TreeProfile
from proton.model.ranks import spread_of
from proton.render.display_names import printable
from proton.render.text.kernel_remarks import in_kernel_lines, wrapped_remark
from proton.render.text.sample_texts import NON_USER, SAMPLE_LOSSES, sampling_lines
from proton.render.text.style import BOLD, RED, Style
from proton.render.units import format_count, format_time

_MOST_WARNINGS = 8
_GAP = "   "


def head_lines(profile: Profile, style: Style) -> list[str]:
    """The head line, then how samples and records were taken, losses and warnings."""
    parts = [style.paint(printable(profile.source), BOLD)]
    if device := device_names(profile):
        parts.append(device)
    if counts := _counts(profile):
        parts.append(counts)
    if (time_ns := _whole(profile, TIME_NS)) is not None:
        parts.append(f"total {format_time(time_ns)}")
    if len(profile.phases) > 1:
        parts.append(f"{len(profile.phases)} phases")
    return [
        _GAP.join(parts),
        *rank_lines(profile),
        *sampling_lines(profile, style),
        *in_kernel_lines(profile, style),
        *_losses(profile, style),
        *_warnings(profile, style),
    ]


def device_names(profile: Profile) -> str:
    """The devices of a profile in a few words: `NVIDIA H200`, `8 x CUDA sm_90`."""
    counted = Counter(_device_name(device) for device in profile.devices)
    return ", ".join(name if times == 1 else f"{times} x {name}" for name, times in counted.items())


def _device_name(device: Device) -> str:
    if device.name:
        return printable(device.name)
    if device.arch == INTERPRETED:
        return INTERPRETED
    if device.device_type == "CUDA" and device.arch.isdigit():
        return f"CUDA sm_{device.arch}"
    return printable(f"{device.device_type} {device.arch}".strip())


def _whole(profile: Profile, metric: str) -> float | None:
    return whole_of(profile.tree, metric) if isinstance(profile, TreeProfile) else None


def _counts(profile: Profile) -> str:
    kernels = _whole(profile, COUNT)
    parts = [] if kernels is None else [f"{format_count(kernels)} kernel{'s' * (kernels != 1)}"]
    if profile.header.proton_version:  # other tools do not say what they lost
        lost = sum(count for kind, count in profile.losses.items() if kind != NON_USER)
        parts.append(f"{format_count(lost)} lost")
    return ", ".join(parts)


def _losses(profile: Profile, style: Style) -> list[str]:
    said = () if profile.sampling is None else SAMPLE_LOSSES  # by `sampling_lines`
    lost = {kind: count for kind, count in profile.losses.items() if count and kind not in said}
    if not lost:
        return []
    listed = ", ".join(f"{format_count(count)} {printable(kind)}" for kind, count in lost.items())
    return [style.paint(f"! lost: {listed}", RED)]


def _warnings(profile: Profile, style: Style) -> list[str]:
    shown = [f"! {printable(text)}" for text in profile.warnings[:_MOST_WARNINGS]]
    if (more := len(profile.warnings) - len(shown)) > 0:
        shown.append(f"! and {more} more warning{'s' * (more != 1)}")
    return [style.paint(part, RED) for line in shown for part in wrapped_remark(line, style)]


def rank_lines(profile: Profile) -> list[str]:
    """How many ranks there are and how long they took; none where a profile has no ranks."""
    if not profile.ranks:
        return []
    times = [float(rank.time_ns) for rank in profile.ranks if rank.time_ns is not None]
    text = f"{len(profile.ranks)} ranks, values are summed over them"
    if times:
        spread = spread_of(times)
        timed = [rank for rank in profile.ranks if rank.time_ns is not None]
        slowest = timed[spread.slowest]
        least, median, largest = (format_time(time_ns) for time_ns in spread[:3])
        where = f" on {printable(slowest.host)}" if slowest.host else ""
        text += (
            f"; time of a rank: {least} to {largest}, median {median}, "
            f"slowest: rank {slowest.rank}{where}"
        )
    return [text]
