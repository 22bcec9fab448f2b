import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton._import_watch import ImportWatch

NAME = "proton_watched_module"


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportWatch]:
    (tmp_path / f"{NAME}.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    watched = ImportWatch(NAME)
    yield watched
    sys.modules.pop(NAME, None)
    assert watched not in sys.meta_path


def test_callbacks_run_once_after_the_import_in_order(watch: ImportWatch) -> None:
    calls: list[str] = []
    watch.add(lambda: calls.append(f"first {sys.modules[NAME].value}"))
    watch.add(lambda: calls.append("second"))
    assert calls == []
    importlib.import_module(NAME)
    importlib.import_module(NAME)
    assert calls == ["first 1", "second"]


def test_the_module_keeps_its_own_loader(watch: ImportWatch) -> None:
    watch.add(lambda: None)
    module = importlib.import_module(NAME)
    assert module.__spec__ is not None
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"
    assert module.__loader__ is module.__spec__.loader


def test_a_cancelled_callback_does_not_run(watch: ImportWatch) -> None:
    calls: list[int] = []
    cancel = watch.add(lambda: calls.append(1))
    cancel()
    cancel()
    importlib.import_module(NAME)
    assert calls == []


def test_an_import_that_fails_leaves_the_callback_waiting(
    watch: ImportWatch, tmp_path: Path
) -> None:
    calls: list[int] = []
    watch.add(lambda: calls.append(1))
    (tmp_path / f"{NAME}.py").write_text("raise ImportError('not yet')\n")
    with pytest.raises(ImportError, match="not yet"):
        importlib.import_module(NAME)
    (tmp_path / f"{NAME}.py").write_text("value = 22\n")
    importlib.invalidate_caches()
    importlib.import_module(NAME)
    assert calls == [1]


def test_finding_a_module_without_importing_it_calls_nobody(watch: ImportWatch) -> None:
    calls: list[int] = []
    cancel = watch.add(lambda: calls.append(1))
    assert importlib.util.find_spec(NAME) is not None
    assert calls == []
    cancel()
