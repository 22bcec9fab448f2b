"""Shared by the tests that need a GPU: a recorded profile, and what is counted in it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Warnings of torch and its friends are not ours to mend; those of Proton stay errors."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            item.add_marker(pytest.mark.filterwarnings("error::proton.errors.ProtonWarning"))


@pytest.fixture
def torch() -> Any:
    """torch, on a machine with a GPU, its context made."""
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("needs a GPU")
    module.zeros(1, device="cuda")
    return module


@pytest.fixture
def kernels(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of Triton kernels."""
    monkeypatch.syspath_prepend(str(HERE))
    sys.modules.pop("kernels", None)
    import kernels  # type: ignore[import-not-found, unused-ignore]

    return kernels


class Recorded:
    """A profile that was written: its paths, counts and times."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.kernels: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        self.copies: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        kinds = iter(file.header["kinds"])
        pending: list[tuple[tuple[str, ...], dict[str, Any]]] = [((), file.root)]
        while pending:
            path, node = pending.pop()
            kind = next(kinds)
            if kind == "k":
                self.kernels.append((path, node["metrics"]))
            elif kind == "c":
                self.copies.append((path, node["metrics"]))
            below = [((*path, child["frame"]["name"]), child) for child in node["children"]]
            pending += reversed(below)

    def without(self, part: str) -> Recorded:
        """The same, less the kernels whose names have this part."""
        self.kernels = [each for each in self.kernels if part not in each[0][-1]]
        return self

    def counts(self, kind: str = "") -> Counter[str]:
        """Name of a kernel -> how often it ran, anywhere."""
        found: Counter[str] = Counter()
        for path, metrics in self.kernels:
            if kind in path[-1]:
                found[path[-1]] += metrics["count"]
        return found

    def count_under(self, *scopes: str, kind: str = "") -> int:
        """How many kernels ran below a path that starts with these names."""
        return sum(
            metrics["count"]
            for path, metrics in self.kernels
            if path[: len(scopes)] == scopes and kind in path[-1]
        )

    def time_ns(self) -> int:
        """GPU time of all kernels."""
        return sum(int(metrics["time (ns)"]) for _, metrics in self.kernels)


@pytest.fixture
def add(torch: Any) -> Callable[[], object]:
    """Launches one kernel, warm."""
    x = torch.ones(1024, device="cuda")
    x.add_(1)
    torch.cuda.synchronize()
    return lambda: x.add_(1)


@pytest.fixture
def record(tmp_path: Path, torch: Any, profile_of: Callable[..., Any]) -> Callable[..., Recorded]:
    """`record(work, context="python")` runs `work` in a session and reads what it wrote."""

    def run(work: Callable[[], object], **options: Any) -> Recorded:
        torch.cuda.synchronize()
        session = proton.start(str(tmp_path / "run"), backend="cupti", **options)
        try:
            work()
        finally:
            proton.finalize(session)
        return Recorded(profile_of(tmp_path / "run.hatchet"))

    return run
