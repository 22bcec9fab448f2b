"""Makes the cubins of this folder: `python -m tests.data.cubins.make [FOLDER]`, no GPU needed.

Triton's own kernels are made by the Triton that runs this, under its version; run it with each
Triton wanted. Paths of this machine are replaced in the PTX, which is then assembled as Triton
does it. Beside each cubin: its PTX, and in `.lines` what NVIDIA's disassembler says of it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.data.cubins import gluon_kernels, kernels
from tests.support import nvdisasm

HERE = Path(__file__).resolve().parent
ARCHITECTURES = (80, 90, 100)
VERSION = "triton" + "".join(triton.__version__.split(".")[:2])
POINTERS = dict.fromkeys(("x", "y", "out"), "*fp32")
HALVES = {"a": "*fp16", "b": "*fp16", "out": "*fp32"}
# kernel -> arguments, block
WORK: dict[str, tuple[dict[str, str], int]] = {
    "vector_add": (POINTERS | {"n": "i32"}, 256),
    "softmax": ({"x": "*fp32", "out": "*fp32", "stride": "i32", "n": "i32"}, 512),
    "matmul": (HALVES | {"n": "i32"}, 32),
    "scale": ({"x": "*fp32", "out": "*fp32", "factor": "fp32"}, 256),
}


def compiled_ptx(name: str, architecture: int) -> str:
    """The PTX of a kernel, with folders that are the same on every machine."""
    signature, block = WORK[name]
    types, constants = signature | {"BLOCK": "constexpr"}, {"BLOCK": block}
    source: Any
    if hasattr(kernels, name):
        source = ASTSource(getattr(kernels, name), types, constants)
    else:
        from triton.experimental.gluon._runtime import GluonASTSource

        source = GluonASTSource(getattr(gluon_kernels, name), types, constants)
    ptx = triton.compile(source, target=GPUTarget("cuda", architecture, 32)).asm["ptx"]
    ptx = re.sub(r'(\.file\s+\d+ ").*/(triton/.*")', r"\1/lib/\2", ptx)
    ptx = ptx.replace(f'"{HERE}/', '"/src/')
    # The folder of the compilation, a text in .debug_info.
    folder = "".join(rf"\.b8 {byte}[^\n]*\n" for byte in str(HERE).encode())
    return re.sub(folder + r"\.b8 0\n", ".b8 0\n", ptx)


def assemble(ptx: str, name: str, folder: Path, *options: str) -> None:
    """Write PTX, cubin and the disassembler's lines; which ptxas to take is Triton's choice too."""
    target = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)
    version = re.search(r"^\.version (\d+)", ptx, re.MULTILINE)
    assert target
    assert version
    is_new = int(re.sub(r"\D", "", target[1])) >= 100 or int(version[1]) >= 9  # CUDA 13
    tool = nvdisasm.triton_tool("ptxas-blackwell" if is_new else "ptxas")
    assert tool is not None
    source, cubin = folder / f"{name}.ptx", folder / f"{name}.cubin"
    source.write_text(ptx)
    command = [str(tool), *options, f"--gpu-name={target[1]}", str(source), "-o", str(cubin)]
    subprocess.run(command, check=True, timeout=120)
    (folder / f"{name}.lines").write_text(nvdisasm.to_text(nvdisasm.disassemble(cubin)))


def main() -> None:
    """Make everything that this Triton can."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name in WORK if VERSION == "triton36" else ("softmax",):
        for architecture in (90,) if name == "scale" else ARCHITECTURES:
            ptx = compiled_ptx(name, architecture)
            assemble(ptx, f"{VERSION}_{name}_sm{architecture}", folder, "-lineinfo")
    if VERSION == "triton36":
        inlined = (HERE / "inlined_cuda.ptx").read_text()
        assemble(inlined, "inlined_cuda", folder, "-lineinfo")
        plain = re.sub(r"\t\.(loc|file)\t.*\n", "", compiled_ptx("vector_add", 90))
        assemble(plain.partition("\t.section\t.debug")[0], "without_lines", folder)


if __name__ == "__main__":
    main()
