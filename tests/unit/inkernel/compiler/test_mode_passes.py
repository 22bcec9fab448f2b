"""Recipes: which passes a mode asks for, with which options, in which order."""

from __future__ import annotations

from dataclasses import replace

from proton.inkernel.compiler.mode_passes import (
    THINNING,
    KernelFacts,
    lowering_recipe,
    recording_passes,
)
from proton.inkernel.modes.mode_table import MODES, Default, Loops, Ops, parse_instrumentation
from proton.inkernel.passes import Pass
from proton.inkernel.passes.count_bytes import CountBytes
from proton.inkernel.passes.record_around_ops import RecordAroundOps
from proton.inkernel.passes.record_loops import RecordLoops
from proton.inkernel.passes.record_memory import RecordMemory
from proton.inkernel.passes.thin_records import ThinRecords

FACTS = KernelFacts(vendor="nvidia", num_warps=4, shared_bytes=0, shared_limit=232448, warp_size=32)


def _names(passes: tuple[Pass, ...]) -> list[str]:
    return [each.name for each in passes]


def test_every_mode_has_passes_and_prepare_last() -> None:
    for name in MODES.keys() - {"call-at"}:  # which needs a file
        passes = recording_passes(parse_instrumentation(name))
        assert len(passes) > 1
        assert passes[-1].name == "prepare"


def test_modes_of_llvm_text_run_before_records_are_lowered() -> None:
    passes = lowering_recipe(parse_instrumentation("bytes+memory:bins=32"), FACTS)
    assert _names(passes)[:3] == ["count-bytes", "record-memory", "lower-records-circular"]
    assert passes[1] == RecordMemory(bins=32)


def test_passes_that_name_parameters_are_told_what_they_are_called() -> None:
    facts = replace(FACTS, parameters=("x_ptr", "n"))
    passes = lowering_recipe(parse_instrumentation("bytes+memory:bins=32"), facts)
    assert passes[:2] == (
        CountBytes(arguments=("x_ptr", "n")),
        RecordMemory(bins=32, arguments=("x_ptr", "n")),
    )


def test_the_users_scopes_come_first_and_ctas_last() -> None:
    mode = parse_instrumentation("cta+ops+loops+default")
    assert _names(recording_passes(mode)) == [
        *("record-user-scopes", "record-around-ops", "record-loops", "record-ctas", "prepare")
    ]


def test_a_modes_own_options_reach_its_pass() -> None:
    assert recording_passes(Loops(cap=3, whole=False))[0] == RecordLoops(cap=3, whole=False)
    assert recording_passes(Ops(ops=("dot",)))[0] == RecordAroundOps(ops=("dot",))


def test_thinning_stands_before_prepare() -> None:
    passes = recording_passes(Loops(), thinning=2)
    assert passes[1] == ThinRecords(every=THINNING[2])
    assert passes[2].name == "prepare"
    assert THINNING[0] == 1
    assert THINNING[-1] == 0


def test_lowering_follows_the_options() -> None:
    flush = parse_instrumentation("default:buffer_strategy=flush:buffer_type=global")
    assert _names(lowering_recipe(Default(), FACTS)) == [
        *("lower-records-circular", "allocate-shared", "lower-to-nvidia")
    ]
    assert _names(lowering_recipe(flush, FACTS)) == [
        *("lower-records-flush", "allocate-global", "lower-to-nvidia")
    ]
    assert _names(lowering_recipe(Default(), FACTS, is_global=True))[1] == "allocate-global"
