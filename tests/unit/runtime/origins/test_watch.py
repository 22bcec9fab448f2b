"""What the watch hears of inductor: a stand-in of torch's modules, so that nothing compiles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from proton import _torch
from proton.runtime.origins.side_file import side_path
from proton.runtime.origins.watch import OriginsWatch

NOTE = "set_kernel_post_grad_provenance_tracing"
DEBUG, CACHE = _torch.ORIGIN_MODULES
USER = "torch._inductor.codegen.triton"  # imports the function by name


class Node:
    """A node of an FX graph."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


def schedule(file: str, line: int, op: str) -> list[Any]:
    trace = f'  File "{file}", line {line}, in f\n'
    target = SimpleNamespace(_overloadpacket=op)
    node = Node(
        name="n",
        op="call_function",
        stack_trace=trace,
        target=target,
        meta={"original_aten": target},
    )
    return [SimpleNamespace(node=SimpleNamespace(origins=[node]))]


class Inductor:
    """The modules, and what a compile does with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.noted: list[str] = []

        class PyCodeCache:
            linemaps: ClassVar[dict[str, Any]] = {}

            @classmethod
            def load_by_key_path(cls, key: str, path: str, linemap: Any = None) -> str:
                cls.linemaps[path] = list(zip(*(linemap or []), strict=True))
                return path

        def note(node_schedule: Any, kernel_name: str, is_extern: bool = False) -> None:
            self.noted.append(kernel_name)

        self.cache = PyCodeCache
        self.modules = {name: ModuleType(name) for name in (DEBUG, CACHE, USER)}
        for module in self.modules.values():
            module.__spec__ = SimpleNamespace(_initializing=False)  # type: ignore[assignment]
        vars(self.modules[CACHE])["PyCodeCache"] = PyCodeCache
        for name in (DEBUG, USER):
            vars(self.modules[name])[NOTE] = note
        self.original = note
        for name, module in self.modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    def note(self, *args: Any, **kwargs: Any) -> None:
        vars(self.modules[USER])[NOTE](*args, **kwargs)

    def load(self, path: Path, text: str, line_map: list[tuple[int, str]]) -> None:
        path.write_text(text)
        self.cache.load_by_key_path("key", str(path), linemap=line_map)


@pytest.fixture
def inductor(monkeypatch: pytest.MonkeyPatch) -> Inductor:
    return Inductor(monkeypatch)


@pytest.fixture
def watch(inductor: Inductor) -> Iterator[tuple[OriginsWatch, list[str]]]:
    own, warnings = OriginsWatch(), list[str]()
    own.add(warnings.append)
    yield own, warnings
    own.remove(warnings.append)
    assert vars(inductor.modules[USER])[NOTE] is inductor.original
    assert "wrapped" not in repr(vars(inductor.cache)["load_by_key_path"])


TEXT = "k_0 = async_compile.triton('k_0', '''\n''')\ndef call(args):\n    k_0.run(buf0)\n"
MAP = [(1, '  File "m.py", line 7, in f\n')]


def found(watch: OriginsWatch, *names: str, with_calls: bool = False) -> dict[str, list[int]]:
    kernels = watch.find(names, with_calls=with_calls)
    return {each.kernel: [line.line for line in each.lines] for each in kernels}


def test_a_kernel_gets_the_lines_of_its_nodes(inductor: Any, watch: Any, tmp_path: Path) -> None:
    own, warnings = watch
    inductor.note(schedule("m.py", 3, "aten.relu") + schedule("m.py", 4, "aten.mul"), "k_0")
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    (kernel,) = own.find({"k_0", "other"}, with_calls=False)
    assert [(line.line, *line.ops) for line in kernel.lines] == [(3, "aten.relu"), (4, "aten.mul")]
    assert kernel.wrapper == str(tmp_path / "w.py")
    assert not kernel.is_partial
    assert Path(side_path(kernel.wrapper)).exists()
    assert inductor.noted == ["k_0"]
    assert warnings == []
    assert found(own, "other") == {}


def test_a_warm_cache_has_the_side_file(inductor: Any, watch: Any, tmp_path: Path) -> None:
    inductor.note(schedule("m.py", 3, "aten.relu"), "k_0")
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    later = OriginsWatch()  # of a process that only loads the code
    assert found(later, "k_0") == {"k_0": [3]}


def test_without_a_side_file_the_cached_line_is_taken(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, _ = watch
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    inductor.cache.load_by_key_path("key", str(tmp_path / "kernel.py"))  # has no lines
    (kernel,) = own.find({"k_0"}, with_calls=False)
    assert (kernel.is_partial, kernel.lines[0].line) == (True, 7)


def test_equal_kernels_of_two_graphs_are_told_apart_by_the_wrapper(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, _ = watch
    for name, line in (("a.py", 3), ("b.py", 30)):
        inductor.note(schedule("m.py", line, "aten.relu"), "k_0")
        inductor.load(tmp_path / name, TEXT, MAP)
    kernels = own.find({"k_0"}, with_calls=False)
    assert [(Path(each.wrapper).name, each.lines[0].line) for each in kernels] == [
        ("a.py", 3),
        ("b.py", 30),
    ]


def test_a_wrapper_that_is_loaded_again_may_have_other_lines(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, _ = watch
    inductor.note(schedule("m.py", 3, "aten.relu"), "k_0")
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    inductor.load(tmp_path / "w.py", TEXT, MAP)  # an equal graph, from inductor's own cache
    (kernel,) = own.find({"k_0"}, with_calls=False)
    assert kernel.is_partial


def test_calls_to_libraries_get_their_lines_in_order(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, _ = watch
    for line in (3, 5):
        call = SimpleNamespace(origin_node=None, origins=[*schedule("m.py", line, "aten.mm")])
        call.origins = call.origins[0].node.origins
        inductor.note(call, "extern_kernels.mm", is_extern=True)
    text = "def call(args):\n    extern_kernels.mm(a)\n    extern_kernels.mm(b)\n"
    inductor.load(tmp_path / "w.py", text, MAP)
    kernels = own.find((), with_calls=True)
    assert [(each.wrapper_line, each.lines[0].line) for each in kernels] == [(2, 3), (3, 5)]
    assert own.find(("extern_kernels.mm",), with_calls=False) == []


def test_what_a_failed_compile_noted_is_not_the_next_ones(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, _ = watch
    inductor.note(schedule("m.py", 3, "aten.relu"), "failed_0")
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    assert found(own, "failed_0") == {}


def test_nodes_of_another_shape_are_warned_of_and_nothing_fails(
    inductor: Any, watch: Any, tmp_path: Path
) -> None:
    own, warnings = watch
    inductor.note([SimpleNamespace(node=object())], "k_0")
    inductor.note(None, None)
    assert inductor.noted == ["k_0", None]
    (warning,) = warnings
    assert warning.startswith("not every line that kernels of torch.compile come from is known: ")
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    assert found(own, "k_0") == {"k_0": [7]}  # the cached one


def test_a_torch_without_the_functions_is_warned_of(inductor: Inductor) -> None:
    vars(inductor.modules[DEBUG]).pop(NOTE)
    own, warnings = OriginsWatch(), list[str]()
    own.add(warnings.append)
    own.remove(warnings.append)
    (warning,) = warnings
    assert warning.endswith(f"torch {_torch.version()} has no {NOTE}")


def test_a_folder_that_cannot_be_written_is_warned_of(
    inductor: Any, watch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, warnings = watch
    inductor.note(schedule("m.py", 3, "aten.relu"), "k_0")
    Path(f"{tmp_path}/w.proton-origins.json").mkdir()
    inductor.load(tmp_path / "w.py", TEXT, MAP)
    assert found(own, "k_0") == {"k_0": [3]}
    (warning,) = warnings
    assert "later processes find no side files in torch's cache" in warning


def test_nothing_is_asked_of_a_process_without_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, CACHE, raising=False)
    own = OriginsWatch()
    assert not own.is_needed
    assert own.find({"k_0"}, with_calls=True) == []
