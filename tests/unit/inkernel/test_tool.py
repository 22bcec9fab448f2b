"""Tools of one's own: what they must have, how they are found, and what reaches them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from proton.errors import UsageError
from proton.inkernel import passes
from proton.inkernel.compiler.mode_passes import recording_passes
from proton.inkernel.ir.module import Module
from proton.inkernel.ir.op_groups import record_around
from proton.inkernel.modes import mode_table as modes
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.tool import Tool, compile_kernel, deliver, launch, register
from proton.inkernel.tool_layouts import BytesLayout, RecordLayout, RecordsLayout, ToolBuffer


@dataclass(frozen=True)
class RecordExp:
    """Time every exponential."""

    name: ClassVar[str] = "record-exp-of-tests"
    level: ClassVar[str] = "ttgir"
    kind: str = "exp"

    def apply(self, module: Module) -> None:
        for op in module.walk():
            if op.name == "math.exp":
                record_around(module, op, self.kind)


@dataclass(frozen=True)
class Exponentials(Tool):
    """What a user writes."""

    name: str = field(default="exponentials", init=False)
    passes: ClassVar[Any] = (RecordExp,)
    layout: ClassVar[RecordLayout] = RecordsLayout()
    kind: str = "exp"
    seen: ClassVar[list[Any]] = []

    def on_buffer(self, buffer: ToolBuffer) -> None:
        self.seen.append(buffer.contents)


@pytest.fixture(autouse=True)
def no_tool_stays() -> Iterator[None]:
    known = dict(modes.MODES)
    Exponentials.seen.clear()
    yield
    modes.MODES.clear()
    modes.MODES.update(known)


def test_a_tool_is_a_mode_with_its_own_passes_and_options() -> None:
    tool = Exponentials(kind="e", granularity="cta")  # type: ignore[arg-type]
    assert parse_instrumentation(tool) is tool
    assert recording_passes(tool)[0] == RecordExp(kind="e")
    assert passes.load_pass("record-exp-of-tests") == RecordExp()


def test_its_text_tells_versions_of_its_source_apart() -> None:
    assert ":code=" in str(Exponentials())
    assert Exponentials().code == Exponentials().code != ""


def test_a_registered_tool_is_found_by_name() -> None:
    register(Exponentials)
    assert parse_instrumentation("exponentials:kind=e").passes == ("record-exp-of-tests",)
    text = str(Exponentials(kind="e"))
    assert parse_instrumentation(text) == Exponentials(kind="e")
    assert parse_instrumentation("exponentials+loops").names == ("loops", "exponentials")


@dataclass(frozen=True)
class Bins(Exponentials):
    """With an option of every kind."""

    name: str = field(default="bins-of-tests", init=False)
    bin_bytes: int = 4096
    share: float = 0.5
    is_deep: bool = False
    levels: tuple[int, ...] = (1,)
    words: tuple[str, ...] = ()


def test_options_in_text_become_what_their_defaults_are() -> None:
    register(Bins)
    text = "bins-of-tests:bin_bytes=8192:share=0.25:is_deep=true:levels=1,2:words=a,b:kind=7"
    read = parse_instrumentation(text)
    asked = Bins(
        bin_bytes=8192, share=0.25, is_deep=True, levels=(1, 2), words=("a", "b"), kind="7"
    )
    assert read == asked
    assert parse_instrumentation(str(asked)) == asked


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("bin_bytes=4k", "option 'bin_bytes' must be a whole number, 0 or more, not '4k'"),
        ("share=half", "option 'share' must be a number, not 'half'"),
        ("is_deep=very", "option 'is_deep' must be true or false, not 'very'"),
        ("levels=1,b", "option 'levels' must be a whole number, 0 or more, not 'b'"),
    ],
)
def test_options_in_text_that_are_of_no_such_kind_are_refused(option: str, problem: str) -> None:
    register(Bins)
    with pytest.raises(UsageError, match=f"tool 'bins-of-tests': {problem}"):
        parse_instrumentation(f"bins-of-tests:{option}")


@pytest.mark.parametrize("given", ["record-loops", RecordExp])
def test_one_pass_needs_no_list(given: Any) -> None:
    kind: Any = type("One", (Exponentials,), {"passes": given})
    assert kind.passes == (given if isinstance(given, str) else given.name,)


def test_a_tool_without_a_layout_is_refused() -> None:
    @dataclass(frozen=True)
    class Half(Exponentials):
        layout: ClassVar[Any] = None

    with pytest.raises(UsageError, match="tool 'exponentials' has no layout, so nobody can read"):
        Half()


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"passes": ()}, "has no passes, so it would record nothing"),
        ({"passes": None}, "has no passes, so it would record nothing"),
        ({"layout": RecordsLayout}, r"RecordsLayout is a class; give an object: RecordsLayout\(\)"),
        ({"on_buffer": Tool.on_buffer}, "has no on_buffer"),
    ],
)
def test_what_else_is_missing_is_said(members: dict[str, Any], problem: str) -> None:
    kind: Any = dataclass(frozen=True)(type("Half", (Exponentials,), members))
    with pytest.raises(UsageError, match=problem):
        kind()


def test_a_tool_without_a_name_is_refused() -> None:
    @dataclass(frozen=True)
    class Nameless(Tool):
        layout: ClassVar[RecordLayout] = RecordsLayout()

    with pytest.raises(UsageError, match="tool Nameless has no name"):
        Nameless()


@pytest.mark.parametrize("name", ["ops", "w+8:x", "two words", "8th", "größe"])
def test_a_name_that_no_mode_can_have_is_refused(name: str) -> None:
    members = {"name": field(default=name, init=False), "__annotations__": {"name": "str"}}
    kind: Any = dataclass(frozen=True)(type("Odd", (Exponentials,), members))
    with pytest.raises(UsageError, match=f"{re.escape(repr(name))} is no name for a tool"):
        kind()


def test_names_of_others_and_what_is_no_pass_are_refused() -> None:
    with pytest.raises(UsageError, match="is no pass: a pass is a class with name"):
        type("Wrong", (Tool,), {"passes": (int,)})
    taken = type("Taken", (), {"name": "prepare", "level": "ttgir", "apply": print})
    with pytest.raises(UsageError, match="pass 'prepare' is there already"):
        type("Wrong", (Tool,), {"passes": (taken,)})
    lost = type("Lost", (), {"name": "lost", "level": "sass", "apply": print})
    with pytest.raises(UsageError, match="unknown level of pass 'lost' 'sass'"):
        type("Wrong", (Tool,), {"passes": (lost,)})
    modes.MODES["exponentials"] = "elsewhere:Tool"
    with pytest.raises(UsageError, match="mode 'exponentials' is there already"):
        register(Exponentials)


class NoDataclass:
    name, level = "no-dataclass-of-tests", "ttgir"

    def apply(self, module: Module) -> None: ...


@dataclass(frozen=True)
class NoDefault:
    least: int
    name: ClassVar[str] = "no-default-of-tests"
    level: ClassVar[str] = "ttgir"

    def apply(self, module: Module) -> None: ...


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (NoDataclass, r"is no dataclass; write @dataclass\(frozen=True\) above class NoDataclass"),
        (NoDefault, "its field 'least' has no default, .*; give it one"),
    ],
)
def test_a_pass_that_cannot_be_made_by_its_name_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        type("Wrong", (Tool,), {"passes": given})


def test_buffers_reach_the_tool_and_its_errors_do_not_reach_us(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = Exponentials()
    good = ToolBuffer("k", b"12345678", {}, 2, BytesLayout(2))
    assert deliver(tool, good)
    assert Exponentials.seen == [b"1234"]
    bad = ToolBuffer("k", b"", {}, 1, RecordsLayout())
    with caplog.at_level(logging.WARNING, logger="proton"):
        assert not deliver(tool, bad)
    assert "tool 'exponentials' failed on a buffer of kernel 'k': KeyError" in caplog.text


def test_launching_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton._torch.is_imported", lambda: False)
    with pytest.raises(UsageError, match="import torch first"):
        launch(Exponentials(), None, (1,))


def test_the_ctas_of_clusters_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton.runtime import _allocation

    @dataclass(frozen=True)
    class Takes(Exponentials):
        name: str = field(default="takes", init=False)
        layout: ClassVar[RecordLayout] = BytesLayout(64)

    monkeypatch.setattr("proton._torch.is_imported", lambda: True)
    monkeypatch.setattr("proton._torch.zeroed_buffer", lambda size, alignment: bytearray(size))
    monkeypatch.setattr("proton._torch.synchronize", lambda: None)
    monkeypatch.setattr("proton._torch.bytes_of", bytes)
    described: dict[str, Any] = {
        **{"version": 1, "mode": "", "thinning": 0, "scratch_bytes": 64, "scratch_align": 64},
        **{"record_map": {}, "num_warps": 4, "options": {}},
    }
    compiled = SimpleNamespace(name="k", metadata=SimpleNamespace(proton=json.dumps(described)))

    def run(*_: Any) -> Any:
        _allocation._profile_allocator.get()(3 * 2 * 64, 64, 0)  # a grid of 3, clusters of 2
        return compiled

    assert launch(Takes(), {(3,): run}, (3,)).grid_ctas == 6
    assert Takes.seen == [bytes(6 * 64)]


def test_a_kernel_is_compiled_with_a_tool_in_it_where_there_is_no_gpu() -> None:
    from triton.compiler import ASTSource

    from tests.support.kernels import softmax, target_of

    arguments = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    source = ASTSource(softmax, {**arguments, "BLOCK": "constexpr"}, {"BLOCK": 1024})
    _, records = compile_kernel(Exponentials(), source, target_of("90"))
    assert records is not None
    (region,) = records.record_map["regions"]
    assert region["name"].startswith("exp ")
