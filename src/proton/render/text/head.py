"""The lines above a view: what the file holds, its ranks, what was lost, what to beware of."""

from __future__ import annotations

from collections import Counter

from proton.analysis.losses import IN_KERNEL, losses_of
from proton.analysis.measurements import whole_of
from proton.analysis.several_devices import device_totals
from proton.analysis.step_times import step_times
from proton.analysis.tuning_work import TuningCost, drop_tuning
from proton.model.device import INTERPRETED, Device
from proton.model.host_time import has_operators
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS
from proton.model.profile import Profile, TreeProfile
from proton.model.ranks import spread_of
from proton.render.display_names import cell_width, printable
from proton.render.text.kernel_remarks import in_kernel_lines, wrapped, wrapped_remark
from proton.render.text.sample_texts import SAMPLE_LOSSES, sampling_lines
from proton.render.text.style import BOLD, RED, RESET, Style
from proton.render.units import format_count, format_time

_MOST_WARNINGS = 8
_GAP = "   "


def head_lines(profile: Profile, style: Style, tuning: TuningCost | None = None) -> list[str]:
    """The head line, then how samples and records were taken, losses and warnings.

    `tuning` is what autotuning took, where the profile is without it.
    """
    parts = [style.paint(printable(profile.source), BOLD)]
    if device := device_names(profile):
        parts.append(device)
    if counts := _counts(profile):
        parts.append(counts)
    if (time_ns := _whole(profile, TIME_NS)) is not None:
        parts.append(f"total {format_time(time_ns)}")
    elif isinstance(profile, TreeProfile) and has_operators(profile.tree):
        parts.append(f"CPU time {format_time(_whole(profile, CPU_TIME_NS))}")
    if len(profile.phases) > 1:
        parts.append(f"{len(profile.phases)} phases")
    said = [] if tuning is None else [tuning_line(tuning)]
    said += [
        *refused_lines(profile),
        *device_lines(profile),
        *rank_lines(profile),
        *step_lines(profile),
        *sampling_lines(profile, style),
    ]
    return [
        *_packed(parts, style),
        *(part for line in said for part in wrapped(line, style)),
        *in_kernel_lines(profile, style),
        *_losses(profile, style),
        *_warnings(profile, style),
    ]


def _packed(parts: list[str], style: Style) -> list[str]:
    """The parts of the head line in as many lines as the width asks for."""
    lines = [""]
    used = 0
    for at, part in enumerate(parts):
        length = cell_width(part.replace(BOLD, "").replace(RESET, ""))
        if at and style.width is not None and used + len(_GAP) + length > style.width:
            lines.append(f"  {part}")
            used = 2 + length
        else:
            lines[-1] += f"{_GAP if at else ''}{part}"
            used += length + (len(_GAP) if at else 0)
    return lines


def program_head(profile: Profile, style: Style, *, without_autotune: bool) -> list[str]:
    """The head above a view of kernels: of the program alone, where autotuning is not asked for.

    Samples do not know which launch they are of: a kernel has those of its trials too.
    """
    if not without_autotune or not isinstance(profile, TreeProfile):
        return head_lines(profile, style)
    program, tuning = drop_tuning(profile)
    lines = head_lines(program, style, tuning)
    if tuning is not None and profile.sampling is not None:
        lines += wrapped("samples of a kernel include those of its trials", style)
    return lines


def tuning_line(tuning: TuningCost) -> str:
    """How much autotuning took, which is not counted, and how to count it."""
    return f"autotuning took {_spent(tuning)}, left out; --with-autotune counts it"


def counted_line(tuning: TuningCost) -> str:
    """How much autotuning took of what is shown, where other views leave it out."""
    return f"autotuning counts here: it took {_spent(tuning)}"


def _spent(tuning: TuningCost) -> str:
    return f"{format_time(tuning.time_ns)} ({100 * tuning.share:.1f} %)"


def device_names(profile: Profile) -> str:
    """The devices of a profile in a few words: `NVIDIA H200`, `8 x CUDA sm_90`."""
    counted = Counter(device_name(device) for device in profile.devices)
    return ", ".join(name if times == 1 else f"{times} x {name}" for name, times in counted.items())


def device_name(device: Device) -> str:
    """What people call a device: `NVIDIA H200`, `CUDA sm_90`, `HIP gfx942`."""
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
        lost = sum(losses_of(profile).values())
        parts.append(f"{format_count(lost)} lost")
    return ", ".join(parts)


def _losses(profile: Profile, style: Style) -> list[str]:
    said = () if profile.sampling is None else SAMPLE_LOSSES  # by `sampling_lines`
    lost = {
        kind: count
        for kind, count in losses_of(profile).items()
        if kind not in said and not kind.startswith(IN_KERNEL)  # said with the kernel
    }
    if not lost:
        return []
    listed = ", ".join(f"{format_count(count)} {printable(kind)}" for kind, count in lost.items())
    return [style.paint(f"! lost: {listed}", RED)]


def _warnings(profile: Profile, style: Style) -> list[str]:
    shown = [f"! {printable(text)}" for text in profile.warnings[:_MOST_WARNINGS]]
    if (more := len(profile.warnings) - len(shown)) > 0:
        shown.append(f"! and {more} more warning{'s' * (more != 1)}")
    return [style.paint(part, RED) for line in shown for part in wrapped_remark(line, style)]


def framework_text(profile: Profile) -> str:
    """What was recorded of a framework, in a few words: `ops, torch 2.13.0`; empty: nothing."""
    found = profile.header.framework_context
    if found is None:
        return ""
    torch = f"torch {found.torch}" if found.torch else ""
    return printable(", ".join(filter(None, (found.tier, torch))))


def refused_lines(profile: Profile) -> list[str]:
    """Why less of a framework was recorded than was asked for, where no warning says it."""
    found = profile.header.framework_context
    if found is None or not found.refused or found.refused in profile.warnings:
        return []
    return [f"recorded with context {framework_text(profile)}: {printable(found.refused)}"]


def device_lines(profile: Profile) -> list[str]:
    """What each device did; none where there are not several."""
    totals = device_totals(profile) if isinstance(profile, TreeProfile) else []
    each = [f"{printable(total.name)} {format_time(total.time_ns)}" for total in totals]
    return [f"time by device: {', '.join(each)}"] if each else []


def step_lines(profile: Profile) -> list[str]:
    """How long the steps of the program took; none where it marked none."""
    times = step_times(profile)
    if times is None:
        return []
    whose = "" if times.slowest_rank is None else f" of rank {times.slowest_rank}"
    work = ""
    if times.work_median_ns is not None:
        what = work_time(is_interpreted=profile.is_interpreted)
        work = f"; {what} of a step: median {format_time(times.work_median_ns)}"
    return [
        f"{format_count(times.count)} step{'s' * (times.count != 1)}, "
        f"median {format_time(times.median_ns)}, p90 {format_time(times.p90_ns)}, "
        f"slowest {format_time(times.largest_ns)} (step {times.slowest}{whose}){work}"
    ]


def work_time(*, is_interpreted: bool) -> str:
    """What the time of kernels is called; that of the interpreter says nothing of a GPU."""
    return "time (interpreted)" if is_interpreted else "GPU time"


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
