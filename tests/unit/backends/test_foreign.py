"""Backends of other packages, by their entry points: real packages with real metadata."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.backends.common.base import check_backend, load_backend, make_backend
from proton.backends.common.foreign import foreign_backends, load_foreign
from proton.backends.common.knobs import Knobs
from proton.errors import BackendUnavailable, UsageError

GOOD = """
class Backend:
    def __init__(self, mode):
        self.mode = mode
    def start(self, session):
        self.session = session
        session.add_device("CUDA", 0, {"arch": "90"})
        session.on_kernel("far", 1000, 1500, device_type="CUDA", device_id=0)
    def flush(self, limit_s=30.0): ...
    def flush_soon(self): ...
    def stop(self): ...
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package with an entry point into a folder of its own on the path."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def put(package: str, code: str, *, name: str = "Mine", target: str = "") -> None:
        module = package.replace("-", "_")
        (folder / f"{module}.py").write_text(code)
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        point = f"[proton.backends]\n{name} = {target or module + ':Backend'}\n"
        (info / "entry_points.txt").write_text(point)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return put


def test_a_backend_of_another_package_is_listed_and_loaded_when_it_is_chosen(
    install: Install,
) -> None:
    install("far-gpu", GOOD)
    assert [point.value for point in foreign_backends()["mine"]] == ["far_gpu:Backend"]
    with pytest.raises(
        UsageError, match=r"unknown backend 'mime'; choose .* 'mine', 'rocprofiler'"
    ):
        check_backend("mime")
    check_backend("MINE")
    assert "far_gpu" not in sys.modules
    assert load_backend("Mine").__module__ == "far_gpu"
    made: Any = make_backend("mine", "fast", Knobs())
    assert made.mode == "fast"


def test_a_session_records_by_it(install: Install, tmp_cwd: Path, profile_of: Any) -> None:
    install(
        "far-gpu", GOOD.replace("(self, session):", "(self, session):\n        session.activate()")
    )
    session = proton.start("run", backend="Mine", mode="any:thing=1")
    proton.finalize(session)
    assert profile_of("run.hatchet").metrics("far")["time (ns)"] == 500


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise OSError('two\\nlines')", "OSError: two lines"),
        ("x = 1", "AttributeError: module 'far_gpu' has no attribute 'Backend'"),
        ("class Backend: ...", r"is no backend: it has no start, flush, flush_soon, stop"),
        (f"{GOOD}\nBackend = Backend('x')", "is no backend: it is no class"),
    ],
)
def test_a_bad_one_is_one_clear_line(install: Install, code: str, problem: str) -> None:
    install("far-gpu", code)
    check_backend("mine")
    expected = rf"backend 'mine' is unavailable: far-gpu \(far_gpu:Backend\) .*{problem}; update or"
    with pytest.raises(BackendUnavailable, match=expected) as caught:
        load_backend("mine")
    assert "\n" not in str(caught.value)


def test_two_packages_with_one_name_are_refused(install: Install) -> None:
    install("far-gpu", GOOD)
    install("other-gpu", GOOD, name="mine")
    with pytest.raises(BackendUnavailable, match="far-gpu and other-gpu both have one; uninstall"):
        load_foreign("mine", ("start",))


def test_our_own_names_are_ours(install: Install) -> None:
    install("far-gpu", "raise OSError('never')", name="interpreter")
    assert load_backend("interpreter").__module__ == "proton.backends.interpreter"
