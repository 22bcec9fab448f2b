from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from proton.model.merge import merge_profiles
from proton.model.merge_sampling import merge_sampling
from proton.model.profile import Profile
from proton.model.sampling import (
    FOUND,
    NO_CUBIN,
    Instruction,
    SampledKernel,
    Sampling,
    SourceLine,
)
from tests.support.sampling import BRANCH, KERNEL, LINES, LOAD, SAMPLING, TOTALS, reasons


def merged(*parts: Sampling) -> Sampling:
    found = merge_sampling(parts)
    assert found is not None
    return found


def one_kernel(kernel: SampledKernel) -> Sampling:
    return Sampling(reasons=SAMPLING.reasons, lines=LINES, kernels=(kernel,))


def test_nothing_merges_to_nothing_and_one_to_itself() -> None:
    assert merge_sampling([]) is None
    assert merge_sampling([SAMPLING]) is SAMPLING


def test_counts_are_summed_and_the_way_of_sampling_stays() -> None:
    both = merged(SAMPLING, SAMPLING)
    assert (both.samples, both.period_cycles) == (214, 1024)
    assert both.is_split
    assert (both.lines, both.reasons, both.files) == (LINES, SAMPLING.reasons, SAMPLING.files)


def test_losses_are_those_of_the_session_up_to_the_last_part() -> None:
    later = replace(SAMPLING, non_user=5, dropped=2)
    both = merged(SAMPLING, later)
    assert (both.non_user, both.dropped, both.overflows) == (5, 2, 0)


def test_a_count_that_no_part_has_stays_unknown() -> None:
    assert merged(SAMPLING, SAMPLING).left_out is None


def test_instructions_of_one_kernel_are_added_by_offset() -> None:
    kernel = merged(SAMPLING, SAMPLING).kernels[0]
    assert (kernel.samples, kernel.other_samples, kernel.contexts) == (200, 12, 2)
    assert [one.samples for one in kernel.instructions] == [120, 60, 8]
    assert kernel.instructions[0].reasons == reasons(long_scoreboard=100, selected=20)
    assert kernel.instructions[0].latency == 60


def test_reasons_and_lines_are_found_by_what_they_are_not_by_their_numbers() -> None:
    other = Sampling(
        reasons=("wait", "barrier"),
        lines=(SourceLine("lib/sum.py", 9, "sum", 1), SourceLine("k.py", 4, "kernel")),
        kernels=(
            replace(
                KERNEL,
                instructions=(Instruction(0x600, BRANCH, 0, 5, 1, MappingProxyType({0: 3, 1: 2})),),
            ),
        ),
    )
    both = merged(SAMPLING, other)
    assert both.reasons == (*SAMPLING.reasons, "barrier")
    assert both.lines == LINES
    branch = both.kernels[0].instructions[1]
    assert (branch.line, dict(branch.reasons)) == (2, {2: 33, 3: 2})


def test_kernels_of_one_symbol_with_other_code_stay_apart() -> None:
    other = replace(KERNEL, instructions=(Instruction(0x10, BRANCH, 0, 5, 1, reasons(wait=5)),))
    assert len(merged(one_kernel(KERNEL), one_kernel(other)).kernels) == 2


def test_kernels_of_one_symbol_are_told_apart_by_their_modules() -> None:
    first, second = replace(KERNEL, module="a"), replace(KERNEL, module="b")
    both = merged(one_kernel(first), one_kernel(second), one_kernel(first))
    assert [(kernel.module, kernel.samples) for kernel in both.kernels] == [("a", 200), ("b", 100)]


def test_bytes_and_status_that_one_part_knows_are_kept() -> None:
    blind = replace(
        KERNEL, lines=NO_CUBIN, instructions=(Instruction(0x10, b"", -1, 1, 0, reasons(wait=1)),)
    )
    kernel = merged(one_kernel(blind), one_kernel(KERNEL)).kernels[0]
    assert kernel.lines == FOUND
    assert (kernel.instructions[0].code, kernel.instructions[0].line) == (LOAD, 0)


def test_line_samples_are_added() -> None:
    part = one_kernel(replace(KERNEL, line_samples=TOTALS))
    assert [total.samples for total in merged(part, part).kernels[0].line_samples] == [120, 60]


def test_parts_of_a_recording_merge_their_sampling() -> None:
    parts = [Profile("a", sampling=SAMPLING), Profile("b"), Profile("c", sampling=SAMPLING)]
    whole = merge_profiles(parts, "all").sampling
    assert whole is not None
    assert whole.samples == 214
    assert merge_profiles([Profile("a"), Profile("b")], "all").sampling is None
