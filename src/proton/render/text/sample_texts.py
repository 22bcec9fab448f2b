"""What views say about samples: how they were taken, a line with its reasons, the legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from proton.analysis.losses import NON_USER
from proton.analysis.measurements import whole_of
from proton.analysis.reasons import explain
from proton.analysis.source_lines import Samples
from proton.files.source_text import SourceText, TextState
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.sampling import NO_CUBIN, NO_LINE_TABLE, NUM_SAMPLES, SampledKernel, Sampling
from proton.render.display_names import cut_end, printable
from proton.render.text.style import RED, Style
from proton.render.units import format_count

SAMPLE_LOSSES = ("dropped_samples", "sample_buffer_overflow", NON_USER)
SPLIT_NOTE = "samples of a kernel that several contexts launched are divided by its time in each"
WITHOUT_LINES = {
    NO_LINE_TABLE: "no line table: compile with -lineinfo; for a Triton kernel, "
    "TRITON_DISABLE_LINE_INFO is set; libraries such as cuBLAS bring none",
    NO_CUBIN: "no cubin: the module was loaded before sampling began and is not in Triton's cache; "
    "start the session earlier",
}
MOST_REASONS = 3
_LEAST_EXPLAINED = 0.02  # share of all reasons from which one is explained
_LEAST_REASON_ROOM = 8  # columns of its name
_LEAST_REASON = 0.05  # share of a line's samples from which a reason is named


def sampling_lines(profile: Profile, style: Style) -> list[str]:
    """How samples were taken and what was lost, for the head of a view."""
    sampling = profile.sampling
    if sampling is None:
        count = whole_of(profile.tree, NUM_SAMPLES) if isinstance(profile, TreeProfile) else None
        return [] if not count else [f"{_samples(count)}; the file does not say how often"]
    said = [_samples(sample_count(sampling))]
    if sampling.period_cycles:
        cycles = format_count(sampling.period_cycles)
        said[0] += f", one every {cycles} cycles of a multiprocessor"
    if sampling.window_ns and sampling.every_ns:
        said[0] += f", for {_length(sampling.window_ns)} of every {_length(sampling.every_ns)}"
    dropped, overflows, non_user = lost_samples(profile, sampling)
    if not dropped:
        said.append("0 dropped")
    if non_user is not None:
        said.append(f"{format_count(non_user)} outside the program's kernels")
    if not overflows:
        said.append("0 buffer overflows")
    if sampling.left_out:
        said.append(f"{format_count(sampling.left_out)} left out by include")
    lines = ["   ".join(said)]
    if dropped or overflows:
        lost = (
            f"{format_count(dropped or 0)} samples dropped, hardware buffer full "
            f"{format_count(overflows or 0)} times: take a longer interval or a larger buffer"
        )
        lines.append(style.paint(f"! {lost}", RED))
    is_timeline = isinstance(profile, (TreeProfile, TraceProfile)) and profile.trace is not None
    if sampling.is_split and not is_timeline:  # a trace has them by kernel
        lines.append(SPLIT_NOTE)
    return lines


def sample_count(sampling: Sampling) -> int:
    """How many samples were taken: as the file says, else those of all kernels."""
    if sampling.samples is not None:
        return sampling.samples
    return sum(kernel.samples for kernel in sampling.kernels)


def lost_samples(profile: Profile, sampling: Sampling) -> list[int | None]:
    """How many samples were dropped, how often the buffer was full, how many were of no kernel."""
    counts = (sampling.dropped, sampling.overflows, sampling.non_user)
    return [
        profile.losses.get(loss) if count is None else count
        for count, loss in zip(counts, SAMPLE_LOSSES, strict=True)
    ]


def _samples(count: float) -> str:
    return f"{format_count(count)} sample{'s' * (count != 1)}"


def _length(time_ns: int) -> str:
    """A time that somebody set, with every digit: `30 ms`, `1.5 s`."""
    for unit, length in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if time_ns >= length:
            return f"{time_ns / length:g} {unit}"
    return f"{time_ns} ns"


def reasons_text(samples: Samples, most: int = MOST_REASONS) -> str:
    """`long_scoreboard 61 %, wait 12 %`: the reasons that matter, with shares of `samples`."""
    top = samples.top_reasons(most)
    shown = [pair for place, pair in enumerate(top) if not place or pair[1] >= _LEAST_REASON]
    return ", ".join(f"{printable(name)} {100 * share:.0f} %" for name, share in shown)


def fit_reason(text: str, room: int | None) -> str:
    """What `reasons_text` says of one reason, in `room` columns: its name is cut, not its share."""
    if room is None or len(text) <= room or text.count(" ") < 2:
        return text
    name, number, percent = text.rsplit(" ", 2)
    share = f" {number} {percent}"
    return cut_end(name, max(room - len(share), _LEAST_REASON_ROOM)) + share


def reasons_in(samples: Samples, room: int, most: int = MOST_REASONS) -> str:
    """As many of the reasons that matter as `room` columns hold, one at least."""
    texts = [reasons_text(samples, each) for each in range(most, 0, -1)]
    return fit_reason(next((text for text in texts if len(text) <= room), texts[-1]), room)


def legend_lines(found: Iterable[Samples], style: Style, *, full: bool = False) -> list[str]:
    """One paragraph for each reason that `reasons_text` names: its meaning, what usually helps.

    Reasons that hardly count are only named, unless the legend is to be `full`.
    """
    counts: Counter[str] = Counter()
    for samples in found:
        for place, (name, share) in enumerate(samples.top_reasons(MOST_REASONS)):
            if not place or share >= _LEAST_REASON:
                counts[name] += samples.reasons[name]
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    least = 0 if full else _LEAST_EXPLAINED * counts.total()
    explained = [name for name in ranked if counts[name] >= least]
    room = max(map(len, explained), default=0) + 2
    width = max(style.width or 100, 40)
    lines: list[str] = []
    for name in explained:
        reason = explain(name)
        lines += wrap(
            f"{reason.meaning} Helps: {reason.remedy}",
            width,
            initial_indent=f"{printable(name):<{room}}",
            subsequent_indent=" " * room,
            break_on_hyphens=False,
        )
    if rest := [printable(name) for name in ranked if name not in explained]:
        lines += wrap(f"--full explains also: {', '.join(rest)}", width)
    return lines


def text_remark(file: str, text: SourceText) -> str:
    """What to know about the text of `file`; empty where it is what was recorded."""
    if text.state is TextState.GONE:
        return f"{printable(file)}: {text.remark}; line numbers without text"
    if text.state is TextState.CHANGED:
        return (
            f"{printable(file)}: changed since the recording ({text.remark}); "
            "line numbers are those of the recording"
        )
    return ""


def kernel_remark(kernel: SampledKernel) -> str:
    """Why a kernel's lines are not known; empty where they are."""
    return WITHOUT_LINES.get(kernel.lines, "")


def listed_remark(kernel: SampledKernel) -> str:
    """How many of a kernel's instructions a file has, and why; empty where it has all."""
    listed, count = len(kernel.instructions), kernel.instruction_count
    if count and listed >= count:
        return ""
    if count:
        return (
            f"the file has {format_count(listed)} of {format_count(count)} instructions, the "
            "hottest: it keeps all of the kernels with most samples"
        )
    why = (
        "the code of this kernel was not found"
        if kernel.lines == NO_CUBIN
        else "it does not say how many the kernel has"
    )
    return f"the file has {format_count(listed)} instructions, those with most samples: {why}"


class Reasons(NamedTuple):
    """What `reasons_text` says of every line, and the most columns that one of them takes."""

    texts: Mapping[int, str]
    room: int


def choices_of_reasons(samples: Mapping[int, Samples]) -> list[Reasons]:
    """The reasons of all lines: as many as are worth it, then fewer, for where room is short."""
    choices = []
    for most in range(MOST_REASONS, 0, -1):
        texts = {line: reasons_text(one, most) for line, one in samples.items()}
        choices.append(Reasons(texts, max(map(len, texts.values()), default=0)))
    return choices


def fitting(choices: Sequence[Reasons], room: int | None, keep: int) -> Reasons:
    """The first of `choices` that leaves `keep` columns of `room` to other text, else the last."""
    for reasons in choices:
        if room is None or reasons.room + 2 + keep <= room:
            return reasons
    return choices[-1]
