"""Modules on the Python stack, without torch: a class that calls its objects as torch does."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import Any

import pytest

from proton import _native

pytestmark = pytest.mark.matrix


class Module:
    """Children in a dictionary, a call that ends in `forward`."""

    def __init__(self, **children: Any) -> None:
        self._modules = children

    def _wrapped_call_impl(self, *args: Any) -> Any:
        return self.forward(*args)

    __call__ = _wrapped_call_impl

    def forward(self, *args: Any) -> None:
        for child in self._modules.values():
            if child is not None:
                child(*args)


class CellModule(Module):
    """One whose argument an inner function uses: it lies in a cell."""

    def _call_impl(self, *args: Any) -> Any:
        def inner() -> Any:
            return self.forward(*args)

        return inner()

    __call__ = _call_impl


class Layer(Module):
    def forward(self, *args: Any) -> None:
        launch(args[0])


class DistributedDataParallel(Module):
    """Called as torch's."""


def launch(session: Any) -> None:
    session.on_kernel("k", 0, 5, device_type="FAKE", device_id=0)


@pytest.fixture
def session() -> Iterator[Any]:
    _native.TorchObserver.call_of_modules(Module._wrapped_call_impl.__code__)
    _native.TorchObserver.read_frames(True)
    session = _native.Session(0, context="blame", data="tree")
    session.activate()
    yield session
    session.close()
    _native.TorchObserver.read_frames(False)


def modules(session: Any) -> list[tuple[str, ...]]:
    """The modules above each kernel, with how often it ran there."""
    header = {"format": 1}
    root = json.loads(session.serialize("hatchet", 0, header))[0]
    letters = iter(root["proton"]["kinds"])
    found: list[tuple[str, ...]] = []

    def walk(node: Any, above: tuple[str, ...]) -> None:
        letter = next(letters)
        if letter == "m":
            above = (*above, node["frame"]["name"])
        if letter == "k":
            found.extend([above] * node["metrics"]["count"])
        for child in node["children"]:
            walk(child, above)

    walk(root, ())
    return found


def test_modules_have_the_names_of_the_way_to_them(session: Any) -> None:
    model = Module(h=Module(**{"0": Layer(), "1": Layer()}), head=Layer())
    model(session)
    assert modules(session) == [
        ("Module", "h", "h.0"),
        ("Module", "h", "h.1"),
        ("Module", "head"),
    ]


def test_an_argument_in_a_cell_is_read_through_it(session: Any) -> None:
    _native.TorchObserver.call_of_modules(CellModule._call_impl.__code__)

    class Cell(CellModule):
        def forward(self, *args: Any) -> None:
            launch(args[0])

    CellModule(inner=Cell())(session)
    assert modules(session) == [("CellModule", "inner")]


def test_a_shared_module_has_its_first_name(session: Any) -> None:
    layer = Layer()
    Module(a=layer, b=layer)(session)
    assert modules(session) == [("Module", "a")] * 2


def test_names_of_wrappers_are_left_out(session: Any) -> None:
    inner = Module(_fsdp_wrapped_module=Layer())
    DistributedDataParallel(module=Module(h=inner, _orig_mod=None))(session)
    # twice, because a line of the program stands between; torch's own are left out
    assert modules(session) == [("DistributedDataParallel", "Module", "h", "h")]


def test_a_key_called_module_is_a_name_where_no_wrapper_has_it(session: Any) -> None:
    Module(module=Layer())(session)
    assert modules(session) == [("Module", "module")]


def test_two_models_of_a_class_have_numbers_while_both_are_alive(session: Any) -> None:
    first, second = Module(a=Layer()), Module(a=Layer())
    first(session)
    second(session)
    first(session)
    assert sorted(modules(session)) == [("Module", "a"), ("Module", "a"), ("Module (2)", "a")]


def test_a_module_that_is_gone_leaves_its_number_and_its_address(session: Any) -> None:
    for _ in range(50):
        Module(a=Layer())(session)
        Module(b=Layer())(session)
        gc.collect()
    found = modules(session)
    assert found.count(("Module", "a")) == found.count(("Module", "b")) == 50


def test_a_module_that_is_added_later_is_found(session: Any) -> None:
    model = Module(a=Layer())
    model(session)
    model._modules["late"] = Layer()
    model(session)
    assert modules(session) == [("Module", "a")] * 2 + [("Module", "late")]


def test_a_part_that_ran_alone_first_has_its_name_in_the_whole_afterwards(session: Any) -> None:
    part = Layer()
    part(session)
    whole = Module(part=part)
    whole(session)
    part(session)
    assert modules(session) == [("Layer",), ("Module", "part"), ("part",)]


def test_a_module_that_the_root_does_not_have_is_called_after_its_class(session: Any) -> None:
    class Maker(Module):
        def forward(self, *args: Any) -> None:
            Layer()(*args)

    maker = Maker()
    maker(session)
    assert modules(session) == [("Maker", "Layer")]


def test_a_class_whose_objects_take_no_weak_references_is_named_all_the_same(
    session: Any,
) -> None:
    class Slotted:
        __slots__ = ("_modules",)
        __call__ = Module._wrapped_call_impl

        def forward(self, *args: Any) -> None:
            launch(args[0])

    Slotted()(session)  # type: ignore[misc]
    assert modules(session) == [("Slotted",)]


def test_names_of_any_characters_are_kept(session: Any) -> None:
    Module(**{"é\ud800": Layer()})(session)
    assert modules(session) == [("Module", "é\ufffd")]


def test_children_that_are_no_dictionary_are_none(session: Any) -> None:
    model = Module()
    model._modules = [1]  # type: ignore[assignment]
    model.forward = launch  # type: ignore[method-assign]
    model(session)
    assert modules(session) == [("Module",)]
