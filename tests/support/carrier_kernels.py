"""Kernels with records in them, compiled for real targets with passes on their LLVM text.

Records stand in the source of most kernels. The pipelined one gets its own on TTGIR, when the
loop is pipelined already: Triton's pipeliner refuses what it does not know on some targets.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton._C import libtriton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

from proton import _triton
from proton.inkernel.llvm.module import LlvmModule, Lowering

NVIDIA = {f"sm_{arch}": GPUTarget("cuda", arch, 32) for arch in (80, 90, 100)}
AMD = {arch: GPUTarget("hip", arch, 64) for arch in ("gfx90a", "gfx942", "gfx950")}
TARGETS = NVIDIA | AMD


def is_usual(target: str, *others: object) -> bool:
    """Whether every run compiles for this target: one of each vendor is enough."""
    return target in ("sm_90", "gfx942")


@triton.jit
def start(name: tl.constexpr):
    text: tl.constexpr = "// proton.record start " + name
    tl.inline_asm_elementwise(text, "=r,~{memory}", [], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def end(name: tl.constexpr):
    text: tl.constexpr = "// proton.record end " + name
    tl.inline_asm_elementwise(text, "=r,~{memory}", [], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def value(name: tl.constexpr, number, register: tl.constexpr):
    text: tl.constexpr = "// proton.record value " + name
    tl.inline_asm_elementwise(
        text, "=r," + register + ",~{memory}", [number], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def softmax(x_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    start("load%20row")
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    end("load%20row")
    start("reduce")
    x = tl.exp(x - tl.max(x, 0))
    total = tl.sum(x, 0)
    end("reduce")
    tl.store(y_ptr + row * n + at, x / total, mask=at < n)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr, BK: tl.constexpr):
    at_m = tl.program_id(0) * B + tl.arange(0, B)
    at_n = tl.program_id(1) * B + tl.arange(0, B)
    at_k = tl.arange(0, BK)
    a_ptrs = a_ptr + at_m[:, None] * K + at_k[None, :]
    b_ptrs = b_ptr + at_k[:, None] * N + at_n[None, :]
    total = tl.zeros((B, B), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c_ptr + at_m[:, None] * N + at_n[None, :], total.to(tl.float16))


@triton.jit
def branches(x_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    if row > n:
        start("early")
        end("early")
        return
    at = row * B + tl.arange(0, B)
    x = tl.load(x_ptr + at)
    left = n
    while left > 0:
        if left % 3 == 0:
            start("third")
            x = tl.cumsum(x, 0)
            for _ in range(left):
                start("inner")
                x = x * 1.5 + tl.load(y_ptr + left)
                end("inner")
            end("third")
        elif left % 3 == 1:
            start("other")
            tl.atomic_add(y_ptr + at, x)
            end("other")
        left -= 1 + tl.sum((x > 0).to(tl.int32), 0)
    tl.store(x_ptr + at, x)


@gluon.jit
def gluon_copy(x_ptr, y_ptr, n, B: gl.constexpr, W: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [W], [4], [0])
    at = gl.program_id(0) * B + gl.arange(0, B, layout)
    gl.inline_asm_elementwise(
        "// proton.record start copy", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )
    x = gl.load(x_ptr + at, mask=at < n)
    gl.store(y_ptr + at, x + 1, mask=at < n)
    gl.inline_asm_elementwise(
        "// proton.record end copy", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )


@gluon.jit
def first_partition(x_ptr, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, B, layout)
    gl.inline_asm_elementwise(
        "// proton.record start first", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )
    gl.store(x_ptr + at, gl.load(x_ptr + at) + 1)
    gl.inline_asm_elementwise(
        "// proton.record end first", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )


@gluon.jit
def second_partition(x_ptr, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    at = gl.arange(0, B, layout)
    gl.inline_asm_elementwise(
        "// proton.record start second", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )
    gl.store(x_ptr + B + at, gl.load(x_ptr + B + at) + 1)
    gl.inline_asm_elementwise(
        "// proton.record end second", "=r,~{memory}", [], dtype=gl.int32, is_pure=False, pack=1
    )


@gluon.jit
def specialized(x_ptr, y_ptr, n, B: gl.constexpr):
    gl.warp_specialize([(first_partition, (x_ptr, B)), (second_partition, (x_ptr, B))], [1], [24])


@triton.jit
def chain(x_ptr, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    for _ in tl.static_range(COUNT):
        start("step")
        end("step")
    tl.store(x_ptr + tl.program_id(0), x + 1)


@triton.jit
def looped(x_ptr, n, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    for _ in range(n):
        for _ in tl.static_range(COUNT):
            start("step")
            x = x * 1.5 + 2.0
            end("step")
    tl.store(x_ptr + tl.program_id(0), x + 1)


@triton.jit
def numbers(x_ptr, n):
    value("small", n, "r")
    value("large", n.to(tl.int64) * n, "l")
    tl.store(x_ptr, n)


@triton.jit
def plain(x_ptr, n):
    tl.store(x_ptr, n)


KERNELS = ("softmax", "matmul", "branches", "gluon_copy")


def source(name: str, target: GPUTarget, **constants: Any) -> Any:
    """What to compile for one of the kernels above."""
    aligned = [["tt.divisibility", 16]]
    rows = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "B": "constexpr"}
    if name == "matmul":
        signature = {
            **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16"),
            **dict.fromkeys("MNK", "i32"),
            **dict.fromkeys(("B", "BK"), "constexpr"),
        }
        attributes = {(at,): aligned for at in range(6)}
        return ASTSource(matmul, signature, {"B": 128, "BK": 64} | constants, attributes)
    if name == "gluon_copy":
        values = {"B": 1024, "W": target.warp_size}
        return GluonASTSource(gluon_copy, {**rows, "W": "constexpr"}, values, {(0,): aligned})
    if name == "specialized":
        return GluonASTSource(specialized, rows, {"B": 128}, {(0,): aligned})
    if name == "chain":
        signature = {"x_ptr": "*fp32", "COUNT": "constexpr"}
        return ASTSource(chain, signature, constants, {(0,): aligned})
    if name == "looped":
        signature = {"x_ptr": "*fp32", "n": "i32", "COUNT": "constexpr"}
        return ASTSource(looped, signature, constants, {(0,): aligned})
    if name in ("numbers", "plain"):
        return ASTSource(globals()[name], {"x_ptr": "*i32", "n": "i32"}, {})
    return ASTSource(globals()[name], rows, {"B": 1024} | constants, {(0,): aligned})


@dataclass
class Built:
    """A compiled kernel, its text before and after the passes, and what those decided."""

    kernel: Any
    before: str
    after: str
    lowering: Lowering | None
    pass_seconds: float

    @property
    def binary(self) -> bytes:
        found = self.kernel.asm.get("cubin") or self.kernel.asm.get("hsaco")
        assert isinstance(found, bytes)
        return found


def build(
    name: str,
    target: GPUTarget,
    passes: Callable[[dict[str, Any]], Sequence[Any]],
    ttgir: Callable[[str], str] | None = None,
    **constants: Any,
) -> Built:
    """Compile a kernel with `passes(metadata)` run over its LLVM text, and `ttgir` over that."""
    seen, edit = editor(passes)
    with stages_edited(edit, ttgir or (_record_dots if name == "matmul" else None)):
        kernel = triton.compile(
            source(name, target, **constants),
            target=target,
            options={"num_warps": 4, "num_stages": 3 if target.backend == "cuda" else 2},
        )
    return Built(kernel, seen["before"], seen["after"], seen["lowering"], seen["seconds"])


def editor(
    passes: Callable[[dict[str, Any]], Sequence[Any]],
) -> tuple[dict[str, Any], Callable[[str, dict[str, Any]], str]]:
    """What `stages_edited` calls to run `passes(metadata)`, and what it notes of each kernel."""
    seen: dict[str, Any] = {}

    def edit(text: str, metadata: dict[str, Any]) -> str:
        began = time.thread_time()  # of this work alone: the machine may be busy
        module = LlvmModule(text)
        for each in passes(metadata):
            each.apply(module)
        seen.update(before=text, after=module.text(), lowering=module.lowering)
        assert _triton.llvm_parse_error(seen["after"]) is None
        seen["seconds"] = time.thread_time() - began
        if lowering := module.lowering:
            metadata["shared"] = lowering.shared_bytes or metadata["shared"]
            metadata["profile_scratch_size"] = lowering.scratch_bytes
            metadata["profile_scratch_align"] = lowering.scratch_align
        return module.text()

    return seen, edit


@contextmanager
def stages_edited(
    edit: Callable[[str, dict[str, Any]], str], ttgir: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Have `edit` change the LLVM text of what is compiled, and `ttgir` its TTGIR."""
    knobs = triton.knobs

    def hook(self=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "carrier-kernels", "carrier-kernels"
        inner, llir = stages["ttgir"], stages["llir"]
        if ttgir is not None:
            stages["ttgir"] = lambda module, metadata: _edited(inner(module, metadata), ttgir)
        stages["llir"] = lambda module, metadata: edit(llir(module, metadata), metadata)
        return None

    # scopes, not old values: a knob that was set no longer follows its environment variable
    with knobs.runtime.scope(), knobs.compilation.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        knobs.compilation.always_compile = True
        yield


DOTS = ("tt.dot", "ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttg.async_wait", "amdg.async_wait")


def _edited(module: Any, edit: Callable[[str], str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ttgir")
        path.write_text(edit(str(module)), encoding="utf-8")
        parsed = libtriton.ir.parse_mlir_module(str(path), module.context)
    parsed.context = module.context
    return parsed


def _record_dots(text: str) -> str:
    """The TTGIR with a region round every op that is one of `DOTS`, and one for all."""
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.replace("(", " ").split()
        op = next((word for word in words[:4] if word in DOTS), None)
        begins = line.lstrip().startswith("tt.func public")
        if op:
            lines += [_ttgir(f"start {op}", len(lines)), line, _ttgir(f"end {op}", len(lines))]
        elif line.lstrip().startswith("tt.return"):
            lines += [_ttgir("end all", len(lines)), line]
        else:
            lines += [line, _ttgir("start all", len(lines))] if begins else [line]
    return "\n".join(lines)


def _ttgir(record: str, number: int) -> str:
    action = record.split()[0]
    return (
        f'%proton_{action}{number} = tt.elementwise_inline_asm "// proton.record {record}" '
        '{constraints = "=r,~{memory}", packed_element = 1 : i32, pure = false} -> i32'
    )


def sass(cubin: bytes, folder: Path) -> list[str]:
    """The instructions of a cubin, without padding."""
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    program = str(tool) if tool.exists() else shutil.which("cuobjdump")
    assert program is not None, "Triton's wheel has cuobjdump in backends/nvidia/bin"
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    text = subprocess.run(
        [program, "-sass", str(path)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    found = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(.*?);", text)
    padding = re.compile(r"(@\S+ )?(NOP|BRA 0x|BRA `)")
    return [line.strip() for line in found if not padding.match(line.strip())]
