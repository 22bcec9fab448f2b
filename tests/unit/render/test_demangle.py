from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton import _core
from proton.render.demangle import demangle, shorten_cpp

FILL = (
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEESt5arrayIPcLm1EEEEv"
    "iT0_T1_"
)


def doubling_name(times: int) -> str:
    """A symbol whose text doubles with every parameter: B<A, A>, B<B<A, A>, B<A, A>>, ..."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "_Z1f1A"
    for step in range(times):
        index = 2 * step - 1
        low, high = (index % 36, index // 36)
        reference = "S_" if index < 0 else f"S{digits[high] if high else ''}{digits[low]}_"
        name += f"1BI{reference}{reference}E"
    return name


@pytest.fixture(autouse=True)
def fresh_names() -> Iterator[None]:
    demangle.cache_clear()
    yield
    demangle.cache_clear()


def test_a_symbol_becomes_a_declaration() -> None:
    assert demangle("_Z3fooi") == "foo(int)"


@pytest.mark.parametrize("name", ["_ZN2at6native29vectorized_elem", "_Z", "_Zé", "_Z3foo\0i"])
def test_what_is_no_symbol_stays_as_it_is(name: str) -> None:
    assert demangle(name) == name


def test_a_symbol_too_long_for_the_stack_stays_as_it_is() -> None:
    name = "_Z" + "1a" * 10_000
    assert demangle(name) == name


def test_without_the_core_symbols_stay_as_recorded_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_core, "load", lambda: None)
    _core._say_once.cache_clear()
    assert [demangle(name) for name in ("_Z3fooi", "_Z3bari")] == ["_Z3fooi", "_Z3bari"]
    assert [record.getMessage() for record in caplog.records] == [
        "C++ symbols are shown as recorded: the native core of proton is not installed"
    ]


@pytest.mark.parametrize("times", [24, 60])
def test_a_symbol_that_stands_for_gigabytes_stays_as_it_is(times: int) -> None:
    name = doubling_name(times)
    start = time.monotonic()
    assert demangle(name) == name
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("declaration", "short"),
    [
        ("foo(int)", "foo"),
        ("void a::b::f<4, c::d::E<c10::Half> >(int, float)", "a::b::f<4, E<Half>>"),
        ("int* (anonymous namespace)::f(char const*)", "f"),
        ("void f<(anonymous namespace)::G>()", "f<G>"),
        (
            "void f<a::g(int)::{lambda()#1}::operator()() const::{lambda(int)#2}>()",
            "f<g::{lambda}>",
        ),
        ("a::operator<(a::b, a::b)", "a::operator<(a::b, a::b)"),
        ("a::F::operator()(int)", "a::F::operator()"),
        ("not > balanced", "not > balanced"),
        ("plain", "plain"),
    ],
)
def test_a_declaration_is_shortened_for_people(declaration: str, short: str) -> None:
    assert shorten_cpp(declaration) == short


def test_long_template_arguments_lose_their_tail() -> None:
    arguments = ", ".join(f"ns::Argument{i}" for i in range(20))
    assert shorten_cpp(f"void f<{arguments}>(int)") == "f<Argument0, Argument1, Argument2, …>"


def test_a_long_argument_keeps_its_name() -> None:
    inner = ", ".join(f"ns::Inner{i}" for i in range(20))
    assert shorten_cpp(f"void f<ns::Outer<{inner}>, 4>(int)") == "f<Outer<…>, 4>"


def test_a_real_kernel_of_torch_is_readable() -> None:
    short = "at::native::vectorized_elementwise_kernel<4, FillFunctor<int>, array<char*, 1ul>>"
    assert shorten_cpp(demangle(FILL)) == short


def test_more_room_keeps_more_arguments() -> None:
    arguments = ", ".join(f"ns::Argument{at}" for at in range(9))
    assert shorten_cpp(f"void f<{arguments}>(int)", 200).endswith("Argument8>")


def test_the_core_shortens_names_as_viewers_do() -> None:
    streams = Path(__file__).parents[2] / "data" / "streams"
    symbols = {
        part
        for path in streams.glob("*.json")
        for rows in json.loads(path.read_text())["profiles"].values()
        for row in rows
        for part in row.split("\x1f")
    }
    symbols |= {
        FILL,
        "_ZN1aplERKNS_1TE",
        "_ZN1aclEi",
        "_Z1fIXadL_Z1gvEEEvv",
        "_Zbroken",
        "plain<3>(x)",
    }
    assert sum(symbol.startswith("_Z") for symbol in symbols) > 50
    for symbol in symbols:
        is_symbol = symbol.startswith("_Z")
        assert _core.short_name(symbol) == (shorten_cpp(demangle(symbol)) if is_symbol else symbol)
