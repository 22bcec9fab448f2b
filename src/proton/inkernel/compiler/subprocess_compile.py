"""Strangers' code in a kernel, tried out: a process of its own makes machine code of it first.

LLVM reads and verifies what its code generator ends the process on: an intrinsic of another vendor,
a function that is nowhere, an alloca in the wrong address space. Our own passes leave none of that;
callbacks of users and passes of tools may.
"""

from __future__ import annotations

import pickle
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from proton import _triton
from proton._triton import compiler as _triton_compiler
from proton._triton.types import Target
from proton.inkernel.llvm.subprocess_check import parse_problem, run_apart
from proton.inkernel.passes import Pass

LIMIT_S = 120

_TRY = f"import sys; from {__name__} import try_file; try_file(sys.argv[1])"
_PROBLEM = re.compile(r"LLVM ERROR: |\berror *: |\bfatal *: ")


def has_strangers_code(passes: Iterable[Pass]) -> bool:
    """Whether one of these passes puts code into a kernel that is not Proton's."""
    return any(
        each.name == "call-at" or not type(each).__module__.startswith("proton.inkernel.passes.")
        for each in passes
        if each.level == "llvm"
    )


def problem_of_code(
    text: str, target: Target, options: object, metadata: Mapping[str, object]
) -> str | None:
    """Why Triton can make no machine code of LLVM text, in the compiler's words; None: it can.

    Args:
        text: What the `llir` stage gives out.
        target: Triton's.
        options: Triton's, of the kernel.
        metadata: Of the kernel, as the `llir` stage left it.
    """
    with tempfile.TemporaryDirectory(prefix="proton-trial-") as folder:
        file = Path(folder, "kernel.pickle")
        file.write_bytes(pickle.dumps((text, target, options, dict(metadata))))
        done = run_apart(_TRY, str(file), LIMIT_S)
    if done is None:
        return f"its machine code took longer than {LIMIT_S} s to make"
    if done.returncode == 0:
        return None
    words = parse_problem(done.stderr, text) or _words(done.stderr)
    return f"no machine code can be made of it: {words}"


def _words(output: str) -> str:
    """What matters of what a compiler said before it gave up; it shows the whole program, too."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if any("Broken module found" in line for line in lines):
        return "; ".join(lines[:2])  # the verifier says what is wrong first
    named = [line for line in lines if _PROBLEM.search(line) and "Internal Triton" not in line]
    return "; ".join(dict.fromkeys(named[:3] or lines[-1:])) or "LLVM does not say why"


def try_file(path: str) -> None:
    """What the other process does."""
    text, target, options, metadata = pickle.loads(Path(path).read_bytes())
    if (problem := _triton.llvm_parse_error(text)) is not None:
        _triton.end_on_parse_error(text)  # in LLVM's words, if it has any
        sys.exit(problem)
    _triton_compiler.finish(text, target, options, metadata)
