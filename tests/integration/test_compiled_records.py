"""Instrumented LLVM text of real kernels compiles to machine code for every target we name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proton.inkernel.compiler.mode_passes import KernelFacts, lowering_passes, recording_passes
from proton.inkernel.compiler.pipeline import run_passes
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia
from tests.support.carrier_kernels import KERNELS, NVIDIA, TARGETS, Built, build, is_usual, sass
from tests.support.wide import combinations
from tests.unit.inkernel.llvm.test_counting import check_walks

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")  # Triton 3.9's own

STRATEGIES = {"circular": LowerRecordsCircular, "flush": LowerRecordsFlush}
COMBINATIONS = [(s, m) for s in STRATEGIES for m in ("global", "shared")]


def compile_with(
    name: str,
    target: str,
    strategy: str = "circular",
    memory: str = "global",
    constants: dict[str, Any] | None = None,
    allocation: dict[str, Any] | None = None,
    **lowering: Any,
) -> Built:
    chosen = TARGETS[target]

    def passes(metadata: dict[str, Any]) -> Sequence[Any]:
        if memory == "shared":
            own = {"shared_bytes": metadata["shared"], **(allocation or {})}
            allocate: Any = AllocateShared(**own)
        else:
            allocate = AllocateGlobal(**(allocation or {}))
        last: Any = LowerToNvidia if chosen.backend == "cuda" else LowerToAmd
        return STRATEGIES[strategy](), allocate, last(**lowering)

    return build(name, chosen, passes, **(constants or {}))


@pytest.mark.matrix
@pytest.mark.parametrize(("target", "name"), combinations(TARGETS, KERNELS, kept=is_usual))
def test_every_kernel_compiles_for_every_target(name: str, target: str) -> None:
    turn = list(TARGETS).index(target) + KERNELS.index(name)
    for strategy, memory in (COMBINATIONS[turn % 4], COMBINATIONS[(turn + 1) % 4]):
        built = compile_with(name, target, strategy, memory)
        assert built.binary[:4] == b"\x7fELF"
        assert built.lowering is not None
        assert built.lowering.record_map["static_records"] >= 2
        assert built.kernel.metadata.profile_scratch_size == built.lowering.scratch_bytes
        if memory == "shared":
            assert built.kernel.metadata.shared >= 4 * built.lowering.record_map["stage_bytes"]


@pytest.mark.parametrize(
    "options",
    [
        {"clock32": False},
        {"sched_stores": True},
        {"clock32": False, "sched_stores": True},
        {"allocation": {"granularity": "warp_group"}},
        {"allocation": {"granularity": "cta", "ctas": (0, 3)}},
        {"allocation": {"units": (1, 3), "cta_every": 8}},
        {"memory": "shared", "strategy": "flush", "allocation": {"units": (2,)}},
    ],
    ids=str,
)
def test_every_option_compiles_on_both_vendors(options: dict[str, Any]) -> None:
    for target in ("sm_90", "gfx942"):
        assert compile_with("branches", target, **options).binary[:4] == b"\x7fELF"
    extra = {"sched_barriers": True, **options}
    assert compile_with("branches", "gfx950", **extra).binary[:4] == b"\x7fELF"


def test_a_kernel_without_records_keeps_its_text_byte_for_byte() -> None:
    for target in ("sm_90", "gfx942"):
        built = compile_with("plain", target)
        assert built.after == built.before
        assert built.lowering is None
        assert built.kernel.metadata.profile_scratch_size == 0


def test_values_of_both_widths_compile() -> None:
    built = compile_with("numbers", "sm_90")
    assert built.lowering is not None
    regions = built.lowering.record_map["regions"]
    assert [(region["name"], region["bits"]) for region in regions] == [
        ("small", 32),
        ("large", 64),
    ]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_every_path_of_a_compiled_kernel_counts_right(target: str) -> None:
    built = compile_with("branches", target)
    module = LlvmModule(built.before)
    LowerRecordsCircular().apply(module)
    assert check_walks(module, walks=40, steps=200) > 100


def test_the_record_map_names_regions_lines_and_parents() -> None:
    built = compile_with("branches", "sm_90")
    assert built.lowering is not None
    regions = {region["name"]: region for region in built.lowering.record_map["regions"]}
    assert set(regions) == {"early", "third", "inner", "other"}
    assert regions["inner"]["parent"] == regions["third"]["id"]
    assert regions["third"]["file"].endswith("carrier_kernels.py")
    assert all(region["line"] > 0 for region in regions.values())


@pytest.mark.matrix
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "gfx942"])
def test_records_of_the_passes_on_ttgir_reach_the_binary(target: str) -> None:
    chosen = TARGETS[target]

    def lower(metadata: dict[str, Any]) -> Sequence[Any]:
        vendor = "nvidia" if chosen.backend == "cuda" else "amd"
        facts = KernelFacts(vendor, metadata["num_warps"], metadata["shared"], 0, chosen.warp_size)
        return lowering_passes(parse_instrumentation("default"), facts)

    def record(text: str) -> str:
        return run_passes(text, recording_passes(parse_instrumentation("ops+loops+mma")))

    built = build("matmul", chosen, lower, record)
    assert built.binary[:4] == b"\x7fELF"
    assert built.lowering is not None
    regions = built.lowering.record_map["regions"]
    assert {"loop", "iteration", "store"} <= {region["kind"] for region in regions}
    loop = next(region for region in regions if region["kind"] == "loop")
    turn = next(region for region in regions if region["kind"] == "iteration")
    assert (turn["parent"], turn["cap"]) == (loop["id"], 64)
    assert all(region["file"].endswith("carrier_kernels.py") for region in regions)


@pytest.mark.parametrize("memory", ["global", "shared"])
@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
def test_warps_of_every_partition_record(target: str, memory: str) -> None:
    built = compile_with("specialized", target, memory=memory)
    assert built.lowering is not None
    record_map = built.lowering.record_map
    assert record_map["num_warps"] > 4
    assert {region["name"] for region in record_map["regions"]} == {"first", "second"}
    entry = LlvmModule(built.after).kernel.blocks[0]
    assert any("@__proton_open(" in line for line in entry.lines)


def instructions_per_record(name: str, target: str, folder: Path, **options: Any) -> float:
    few, many = (
        len(sass(compile_with(name, target, constants={"COUNT": n}, **options).binary, folder))
        for n in (24, 40)
    )
    arithmetic = 0.5 if name == "looped" else 0  # one multiply-add for two records
    return (many - few) / 32 - arithmetic


@pytest.mark.parametrize("memory", ["global", "shared"])
@pytest.mark.parametrize(
    ("target", "name"),
    [*combinations(NVIDIA, ["chain"], kept=is_usual), ("sm_90", "looped")],
)
def test_a_record_is_at_most_seven_instructions(
    name: str, memory: str, target: str, tmp_path: Path
) -> None:
    assert instructions_per_record(name, target, tmp_path, memory=memory) <= 7


def test_passes_and_the_check_of_their_text_take_less_than_a_tenth_of_a_second() -> None:
    taken = sorted(compile_with("matmul", "sm_90").pass_seconds for _ in range(3))
    assert taken[0] < 0.1
