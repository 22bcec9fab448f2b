"""Which kernels are compiled without records, when, and what is known where they are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proton._triton import launch as _triton_launch
from proton.backends.instrumentation import kernel_changes
from proton.backends.instrumentation.kernel_changes import KernelChanges
from proton.model.in_kernel import Change

PLAIN = {"registers": 32, "spills": 0}
RECORDED = {"registers": 40, "spills": 16}


def kernel(number: int) -> Any:
    return SimpleNamespace(number=number, function=100 + number)


class Compiler:
    """Knows the kernels of `cached`, compiles the others, and keeps count of that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, loaded: int = 3) -> None:
        self.cached: set[str] = set()
        self.compiled: list[str] = []
        self.error: Exception | None = None
        names = [SimpleNamespace(function=100 + at, name=f"k{at}") for at in range(loaded)]
        monkeypatch.setattr(_triton_launch, "loaded_kernels", lambda: names)
        monkeypatch.setattr(kernel_changes, "resources_of", lambda compiled: RECORDED)
        monkeypatch.setattr(kernel_changes, "plain_resources", self.plain_resources)

    def plain_resources(self, found: Any, *, may_compile: bool = False) -> dict[str, int] | None:
        if found.name not in self.cached:
            if not may_compile:
                return None
            if self.error is not None:
                raise self.error
            self.compiled.append(found.name)
            self.cached.add(found.name)
        return PLAIN


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    return Compiler(monkeypatch)


BOTH = {"registers": Change(32, 40), "spills": Change(0, 16)}
ONE = {"registers": Change(None, 40), "spills": Change(None, 16)}


def test_nothing_is_compiled_before_the_end(compiler: Compiler) -> None:
    compiler.cached.add("k0")
    changes = KernelChanges()
    changes.look_up([kernel(0), kernel(1)])
    assert (changes.of(kernel(0)), changes.of(kernel(1))) == (BOTH, ONE)
    assert compiler.compiled == []
    assert changes.complete([kernel(1), kernel(2)]) == []
    assert compiler.compiled == ["k1", "k2"]
    assert changes.of(kernel(1)) == changes.of(kernel(2)) == BOTH


def test_a_kernel_that_is_not_loaded_any_more_says_nothing(compiler: Compiler) -> None:
    changes = KernelChanges()
    assert changes.complete([kernel(7)]) == []
    assert changes.of(kernel(7)) == {}


@pytest.mark.parametrize(("limit", "left"), [("COMPILE_LIMIT_S", 3), ("MOST_COMPILED", 2)])
def test_beyond_the_limits_one_side_is_known_and_a_line_says_so(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, limit: str, left: int
) -> None:
    monkeypatch.setattr(kernel_changes, limit, 3 - left)
    monkeypatch.setattr(kernel_changes, "time", SimpleNamespace(monotonic=lambda: 5.0))
    changes = KernelChanges()
    (problem,) = changes.complete(map(kernel, range(3)))
    assert problem.startswith(f"{left} kernels not compiled without records in the time there is")
    assert len(compiler.compiled) == 3 - left
    assert changes.of(kernel(2)) == ONE


def test_a_compiler_that_fails_is_one_line_and_no_error(compiler: Compiler) -> None:
    compiler.error = RuntimeError("ptxas\n  is gone")
    changes = KernelChanges()
    (problem,) = changes.complete([kernel(1)])
    assert problem.startswith("kernel 'k1' cannot be compiled without records (ptxas is gone)")
    assert changes.of(kernel(1)) == ONE
