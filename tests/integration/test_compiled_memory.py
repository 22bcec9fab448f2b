"""Kernels with counters of memory accesses compile to machine code for every target we name."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import triton

from proton.inkernel.compiler.mode_passes import lowering_recipe
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.passes.count_bytes import CountBytes
from proton.inkernel.passes.record_memory import RecordMemory
from tests.support.carrier_kernels import NVIDIA, TARGETS, editor, is_usual, sass, stages_edited
from tests.support.memory_kernels import KERNELS, lowered, source
from tests.support.wide import combinations

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")  # Triton 3.9's own


def build(name: str, target: str, first: Sequence[Any], **allocation: Any) -> tuple[Any, Any, Any]:
    """The compiled kernel, what the passes decided, and what they took, in seconds."""
    chosen = TARGETS[target]
    passes = lowered(first, chosen.backend, **allocation) if first else ()
    seen, edit = editor(lambda metadata: passes)
    with stages_edited(edit):
        kernel = triton.compile(source(name), target=chosen, options={"num_warps": 4})
    return kernel, seen["lowering"], seen["seconds"]


@pytest.mark.matrix
@pytest.mark.parametrize(("target", "name"), combinations(TARGETS, KERNELS, kept=is_usual))
def test_every_kernel_counts_on_every_target(name: str, target: str) -> None:
    for counting in (CountBytes(), RecordMemory()):
        kernel, lowering, _ = build(name, target, (counting,))
        assert kernel.asm.get("cubin") or kernel.asm.get("hsaco")
        assert len(lowering.record_map["counters"]) >= 2
        assert lowering.record_map["uncovered"] == {}
        assert bool(lowering.record_map["bins"]) == (counting.name == "record-memory")


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_places_have_lines_arguments_and_sizes(target: str) -> None:
    _, lowering, _ = build("add", target, (CountBytes(arguments=("x_ptr", "y_ptr", "z_ptr")),))
    found = [
        (site["name"].partition("@")[0], site["kind"], site["argument"])
        for site in lowering.record_map["counters"]
    ]
    assert found == [
        ("load x_ptr", "load", 0),
        ("load y_ptr", "load", 1),
        ("store z_ptr", "store", 2),
    ]
    assert all(
        site["file"].endswith("memory_kernels.py") for site in lowering.record_map["counters"]
    )


@pytest.mark.parametrize("target", combinations(NVIDIA, kept=is_usual))
def test_counting_bytes_takes_few_instructions(target: str, tmp_path: Path) -> None:
    plain = sass(build("attention", target, ())[0].asm["cubin"], tmp_path)
    counted = sass(build("attention", target, (CountBytes(),))[0].asm["cubin"], tmp_path)
    assert len(counted) - len(plain) < 260


def test_a_kernel_of_copies_by_descriptor_says_what_is_not_covered() -> None:
    _, lowering, _ = build("by_descriptor", "sm_90", (RecordMemory(),))
    found = lowering.record_map
    assert [(site["kind"], site["bytes"]) for site in found["counters"]] == [("copy", 16 * 256 * 4)]
    assert found["counters"][0]["name"].startswith("copy by descriptor@")
    assert found["uncovered"] == {"tma_load_addresses": 2, "tma_stores": 2}


CALLBACKS = Path(__file__).parents[1] / "data" / "callbacks"
CALLS = (
    CallAt(file=str(CALLBACKS / "count_bytes.ll"), function="count_bytes", buffer_bytes=16),
    CallAt(file=str(CALLBACKS / "visits.ll"), function="on_block", at="block", buffer_bytes=512),
    CallAt(*(str(CALLBACKS / "visits.ll"), "branch", "on_branch"), inline=False, buffer_bytes=512),
)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("target", "call"),
    combinations(TARGETS, CALLS, kept=is_usual),
    ids=lambda value: getattr(value, "at", value),
)
def test_callbacks_compile_into_kernels_for_every_target(target: str, call: CallAt) -> None:
    seen, edit = editor(lambda metadata: (call,))
    with stages_edited(edit):
        kernel = triton.compile(
            source("attention"), target=TARGETS[target], options={"num_warps": 4}
        )
    assert kernel.asm.get("cubin") or kernel.asm.get("hsaco")
    assert seen["lowering"].record_map["callbacks"]
    assert seen["lowering"].scratch_bytes == call.buffer_bytes
    assert kernel.metadata.profile_scratch_size == call.buffer_bytes
    text = kernel.asm.get("ptx") or kernel.asm["amdgcn"]
    assert ("on_branch" in text.replace("add", "")) == (not call.inline)


def compile_in(mode: str, target: str) -> tuple[Any, Any, list[str]]:
    """The kernel, what the launcher must know of its records, and what was said."""
    from proton.inkernel.compiler.compile_hook import read_records
    from proton.inkernel.compiler.instrument import begin

    said: list[str] = []
    handle = begin(parse_instrumentation(mode), warn=said.append)
    try:
        kernel = triton.compile(source("add"), target=TARGETS[target])
    finally:
        handle.end()
    return kernel, read_records(kernel.metadata), said


def counting(file: Path) -> str:
    """The mode that calls `count_bytes` of the file at accesses."""
    return f"call-at:file={file}:function=count_bytes:buffer_bytes=16"


def compile_with_callback(file: Path, target: str) -> Any:
    """The kernel, with `count_bytes` of the file called at its accesses."""
    kernel, records, said = compile_in(counting(file), target)
    assert said == []
    assert records is not None
    assert records.scratch_bytes == records.record_map["callback_offset"] + 16
    assert len(records.record_map["callbacks"]) >= 3
    return kernel


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_the_mode_compiles_callbacks_with_a_buffer(target: str) -> None:
    compile_with_callback(CALLBACKS / "count_bytes.ll", target)


STORES = """extern "C" void count_bytes(unsigned long long address, int bytes, int kind, int site,
                              __attribute__((address_space(1))) unsigned *buffer) {
  buffer[site] = bytes;
}
"""


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(
    ("text", "does"), [("", "atomicrmw"), (STORES, "store i32 %1, ptr addrspace(1)")]
)
def test_callbacks_in_cpp_compile_where_there_is_clang(
    target: str, text: str, does: str, tmp_path: Path
) -> None:
    from proton.errors import BackendUnavailable
    from proton.inkernel.clang import compile_callbacks

    vendor = "nvidia" if target in NVIDIA else "amd"
    source = tmp_path / "count_bytes.cpp"
    source.write_text(text or (CALLBACKS / "count_bytes.cpp").read_text())
    try:
        file = compile_callbacks(source, tmp_path / "count.ll", vendor)
    except BackendUnavailable as error:
        pytest.skip(str(error))
    assert does in compile_with_callback(file, target).asm["llir"]


@pytest.mark.matrix
@pytest.mark.parametrize("other", ["bytes", "memory", "ops"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_callbacks_at_accesses_join_with_modes_that_count_them(target: str, other: str) -> None:
    _, records, said = compile_in(f"{other}+{counting(CALLBACKS / 'count_bytes.ll')}", target)
    assert said == []
    assert records is not None
    called = {site["name"].partition("@")[0] for site in records.record_map["callbacks"]}
    counted = {site["name"].partition("@")[0] for site in records.record_map.get("counters", ())}
    assert called == {"load x_ptr", "load y_ptr", "store z_ptr"}
    assert counted == (set() if other == "ops" else called)


def test_a_broken_callback_leaves_the_kernel_unharmed(tmp_path: Path) -> None:
    from proton.inkernel.compiler.compile_hook import read_warnings

    file = tmp_path / "broken.ll"
    file.write_text((CALLBACKS / "broken.ll").read_text())
    kernel, records, said = compile_in(f"call-at:file={file}:at=block:function=broken", "sm_90")
    assert kernel.asm["cubin"]
    assert records is None
    (text,) = said
    assert "LLVM refuses it: Instruction does not dominate all uses!" in text
    assert text in read_warnings(kernel.metadata)


ACCESS = "define void @callback(i64 %a, i32 %b, i32 %k, i32 %s) {{\n  {}\n  ret void\n}}\n{}"
OF_NVIDIA = "i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
OF_AMD = "i32 @llvm.amdgcn.workitem.id.x()"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("target", "line", "declaration", "problem"),
    [
        ("sm_90", f"%x = call {OF_AMD}", f"declare {OF_AMD}", "Cannot select: intrinsic"),
        ("gfx942", f"%x = call {OF_NVIDIA}", f"declare {OF_NVIDIA}", "Cannot select: intrinsic"),
        ("sm_90", "call void @gone()", "declare void @gone()", "extern function 'gone'"),
        ("gfx942", "call void @gone()", "declare void @gone()", "call @gone, which nobody"),
        ("gfx942", "%x = alloca i32", "", r"alloca .*addrspace\(5\)"),
        ("sm_90", 'call void asm sideeffect "no ptx", ""()', "", "Parsing error"),
    ],
)
def test_a_callback_that_no_code_can_be_made_of_does_not_end_the_process(
    target: str, line: str, declaration: str, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.ll"
    use = '\n  call void asm sideeffect "", "r"(i32 %x)' if "call i32" in line else ""
    file.write_text(ACCESS.format(line + use, declaration))
    kernel, records, said = compile_in(f"call-at:file={file}", target)
    assert kernel.asm.get("cubin") or kernel.asm.get("hsaco")
    assert records is None
    (text,) = said
    assert re.search(problem, text), text


def test_the_recipes_of_the_modes_do_it_within_their_time() -> None:
    from proton.inkernel.compiler.mode_passes import KernelFacts

    facts = KernelFacts("nvidia", 4, 0, 0, 32)
    mode = parse_instrumentation("bytes+memory:buffer_type=global")
    seen, edit = editor(lambda metadata: lowering_recipe(mode, facts))
    with stages_edited(edit):
        triton.compile(source("attention"), target=TARGETS["sm_90"], options={"num_warps": 4})
    assert seen["lowering"].record_map["bins"] == 128
    assert seen["seconds"] < 0.1
