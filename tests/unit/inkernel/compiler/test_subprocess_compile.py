"""Code of others is tried out in a process of its own."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from proton.inkernel.compiler import subprocess_compile as trial
from proton.inkernel.compiler.subprocess_compile import has_strangers_code, problem_of_code
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.passes.count_bytes import CountBytes

NO_TARGET: Any = None


@dataclass(frozen=True)
class Own:
    name: ClassVar[str] = "own"
    level: ClassVar[str] = "llvm"

    def apply(self, module: Any) -> None: ...


@dataclass(frozen=True)
class OwnOnTtgir(Own):
    level: ClassVar[str] = "ttgir"


def test_only_callbacks_and_passes_of_tools_bring_code_of_others() -> None:
    assert not has_strangers_code([CountBytes(), OwnOnTtgir()])
    assert has_strangers_code([CountBytes(), CallAt()])
    assert has_strangers_code([Own()])


def test_code_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LIMIT_S", 0.001)
    assert "took longer than" in str(problem_of_code("", NO_TARGET, None, {}))


def test_text_that_llvm_cannot_read_is_refused_in_its_words() -> None:
    said = problem_of_code("define void @f() {\n  no\n}\n", NO_TARGET, None, {})
    assert said == "no machine code can be made of it: expected instruction opcode, in 'no'"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("LLVM ERROR: Cannot select: x\nStack dump:", "LLVM ERROR: Cannot select: x"),
        ("alloca is wrong\n  %p\nLLVM ERROR: Broken module found", "alloca is wrong; %p"),
        (
            "PTXAS error: Internal Triton PTX codegen error\nptxas a.ptx; error : no\nmov.u32 a",
            "ptxas a.ptx; error : no",
        ),
        ("Traceback\nValueError: no\n", "ValueError: no"),
        ("", "LLVM does not say why"),
    ],
)
def test_the_words_that_matter_are_kept(said: str, words: str) -> None:
    assert trial._words(said) == words
