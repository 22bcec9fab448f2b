import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from proton import _torch


def test_the_door_imports_no_torch(run_python: Any) -> None:
    result = run_python(
        "import sys\nfrom proton import _torch\n"
        "print(_torch.is_imported(), _torch.version(), _torch.is_tensor(1), 'torch' in sys.modules)"
    )
    assert result.stdout == "False None False False\n", result.stderr


@pytest.mark.torch
def test_tensors_are_told_from_other_things() -> None:
    torch = pytest.importorskip("torch")
    assert _torch.is_imported()
    assert _torch.version() == torch.__version__
    assert _torch.is_tensor(torch.ones(1))
    assert not _torch.is_tensor([1])


@pytest.mark.torch
def test_a_tensor_says_where_it_lives() -> None:
    torch = pytest.importorskip("torch")
    assert _torch.device_type(torch.ones(1)) == "cpu"


def test_work_is_captured_into_a_graph_on_a_stream_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    @contextmanager
    def around(what: Any) -> Any:
        said.append(f"begin {what}")
        yield
        said.append(f"end {what}")

    class Graph:
        replay = staticmethod(lambda: said.append("replay"))
        __str__ = lambda self: "capture"  # noqa: E731

    cuda = SimpleNamespace(
        Stream=lambda: "stream",
        stream=around,
        CUDAGraph=Graph,
        graph=around,
        synchronize=lambda: said.append("synchronize"),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    with _torch.side_stream():
        replay = _torch.capture_graph(lambda: said.append("work"))
    replay()
    assert said == [
        *("begin stream", "begin capture", "work", "end capture", "synchronize"),
        *("end stream", "replay"),
    ]
