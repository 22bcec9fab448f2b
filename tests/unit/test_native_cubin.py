"""`_native.Cubin`: recorded cubins against NVIDIA's disassembler, and those of Triton's cache."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from proton import _native
from proton.errors import UsageError
from tests.support import nvdisasm

FOLDER = Path(__file__).resolve().parents[1] / "data/cubins"
CUBINS = sorted(FOLDER.glob("*.cubin"))
KERNELS = (FOLDER / "kernels.py").read_text().splitlines()


def opened(name: str, *, with_ptx: bool = True) -> _native.Cubin:
    ptx = (FOLDER / f"{name}.ptx").read_text() if with_ptx else ""
    return _native.Cubin((FOLDER / f"{name}.cubin").read_bytes(), ptx)


def table_of(path: Path) -> nvdisasm.Table:
    """What Proton says of every instruction, in the disassembler's terms."""
    cubin = _native.Cubin(path.read_bytes())
    table: nvdisasm.Table = {}
    for name in cubin.functions():
        if not name.startswith("$"):
            offsets = range(0, len(cubin.code(name)), 16)
            stacks = [
                tuple((file, line) for file, line, _, _ in frames)
                for frames in cubin.locate(name, offsets)
            ]
            table[name] = dict(zip(offsets, stacks, strict=True))
    return table


def line_with(text: str) -> int:
    return next(number for number, line in enumerate(KERNELS, 1) if text in line)


@pytest.mark.parametrize("path", CUBINS, ids=lambda path: path.stem)
def test_lines_are_those_that_were_recorded_of_the_disassembler(path: Path) -> None:
    assert nvdisasm.to_text(table_of(path)) == path.with_suffix(".lines").read_text()


@pytest.mark.skipif(
    nvdisasm.triton_tool("nvdisasm") is None, reason="Triton's wheel here has no nvdisasm"
)
@pytest.mark.parametrize(
    # What CUDA 13 wrote, the disassembler of Triton 3.6 does not take.
    "path",
    [
        path
        for path in CUBINS
        if path.stem not in ("triton39_softmax_sm90", "triton39_softmax_sm100")
    ],
    ids=lambda path: path.stem,
)
def test_lines_are_those_of_the_disassembler_that_is_here(path: Path) -> None:
    assert table_of(path) == nvdisasm.disassemble(path)


@pytest.mark.parametrize("triton", ["triton36", "triton39"])
@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_what_tl_max_does_stands_below_the_users_line(triton: str, architecture: int) -> None:
    cubin = opened(f"{triton}_softmax_sm{architecture}")
    assert (cubin.architecture, cubin.lines, cubin.is_ptx_used) == (architecture, "present", True)
    assert cubin.functions() == ["softmax"]
    stacks = cubin.locate("softmax", range(0, len(cubin.code("softmax")), 16))
    of_max = [s for s in stacks if s[0][1] == line_with("tl.max(") and len(s) > 1]
    assert len(of_max) > 5
    for user, *_, library in of_max:
        assert (user[0], user[3]) == ("/src/kernels.py", "softmax")
        assert library[0] == "/lib/triton/language/standard.py"
        assert library[2] > 0


def test_a_gluon_kernel_has_its_helper_below_the_call() -> None:
    cubin = opened("triton36_scale_sm90")
    stacks = cubin.locate("scale", range(0, len(cubin.code("scale")), 16))
    deep = {tuple(frame[1] for frame in stack) for stack in stacks if len(stack) == 2}
    source = (FOLDER / "gluon_kernels.py").read_text().splitlines()
    call = next(n for n, line in enumerate(source, 1) if "scaled(gl.load" in line)
    inner = next(n for n, line in enumerate(source, 1) if "return values * factor" in line)
    assert deep == {(call, inner)}


def test_equal_places_share_their_frames() -> None:
    first, second = opened("triton36_softmax_sm90").locate("softmax", [0, 0])
    assert first is second


def test_without_line_tables_there_are_functions_and_code_but_no_frames() -> None:
    cubin = opened("without_lines", with_ptx=False)
    assert (cubin.lines, cubin.has_lines) == ("absent", False)
    assert len(cubin.code("vector_add")) % 16 == 0
    assert cubin.locate("vector_add", [0, 16]) == [(), ()]


def test_a_routine_behind_a_kernel_is_named() -> None:
    cubin = opened("inlined_cuda")
    assert cubin.routine("_Z5otherPf", 0) == "_Z5otherPf"
    assert cubin.routine("_Z5otherPf", 0xB0) == "$_Z5otherPf$helper"


def test_what_is_no_cubin_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="no cubin: it does not begin as an ELF file does"):
        _native.Cubin(b"text")


def test_an_unknown_function_is_refused_with_those_there_are() -> None:
    cubin = opened("triton36_softmax_sm90")
    for ask in (lambda: cubin.code("sofmax"), lambda: cubin.locate("sofmax", [0])):
        with pytest.raises(UsageError, match="no function 'sofmax'; it has 'softmax'"):
            ask()


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_cubin_from_tritons_cache_leads_to_this_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    script = tmp_path / "café" / "rows.py"  # escaped in PTX and in line tables
    script.parent.mkdir()
    script.write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\n"
        "def largest(x, out, BLOCK: tl.constexpr):\n"
        "    values = tl.load(x + tl.arange(0, BLOCK))\n"
        "    tl.store(out, tl.max(values, axis=0))\n"
    )
    monkeypatch.syspath_prepend(str(script.parent))
    largest = importlib.import_module("rows").largest
    source = ASTSource(largest, {"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}, {(2,): 256})
    triton.compile(source, target=GPUTarget("cuda", 90, 32))
    (image,) = tmp_path.rglob("*.cubin")
    assert json.loads(image.with_suffix(".json").read_text())["name"] == "largest"
    cubin = _native.Cubin(image.read_bytes(), image.with_suffix(".ptx").read_text())
    assert cubin.is_ptx_used
    stacks = cubin.locate("largest", range(0, len(cubin.code("largest")), 16))
    assert {stack[0][0] for stack in stacks} == {str(script)}
    alone = _native.Cubin(image.read_bytes()).locate("largest", [0])
    assert alone[0][0][0] == str(script)
    below = {stack[-1][0] for stack in stacks if stack[0][1] == 7 and len(stack) > 1}
    assert {Path(file).name for file in below} == {"standard.py"}
