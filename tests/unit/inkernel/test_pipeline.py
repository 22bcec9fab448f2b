from typing import Any, ClassVar

import pytest

from proton.errors import InstrumentationError, PassError, ScopeMismatch, UsageError
from proton.inkernel.compiler.pipeline import parse_passes, run_passes
from proton.inkernel.passes import Pass
from proton.inkernel.passes.record_loops import RecordLoops

TEXT = "module {\n  tt.func public @k() {\n    tt.load %x\n    tt.return\n  }\n}"


def _names(passes: tuple[Pass, ...]) -> list[str]:
    return [each.name for each in passes]


def test_passes_are_read_with_their_options() -> None:
    passes = parse_passes("record-loops{cap=3 whole=false}, prepare")
    assert passes[0] == RecordLoops(cap=3, whole=False)
    assert _names(passes) == ["record-loops", "prepare"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no pass is named"),
        ("prepare;record-loops", "malformed passes 'prepare;record-loops' at"),
        ("record-loops{cap}", "record-loops: malformed option 'cap'; write key=value"),
        ("record-loops{cap=5000000000}", "cap must be 1048576 at most, not 5000000000"),
        ("record-loops{whole=2}", "'whole' must be true or false, not '2'"),
        ("prepare{x=1}", "unknown option of pass 'prepare' 'x'; it has no options"),
        ("what", "unknown pass 'what'; choose one of .*'prepare', 'record-around-ops'"),
    ],
)
def test_malformed_passes_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_passes(text)


def test_every_pass_sees_what_the_one_before_left() -> None:
    seen = []
    text = run_passes(
        TEXT, parse_passes("record-around-ops,prepare"), after=lambda p, t: seen.append((p.name, t))
    )
    assert [name for name, _ in seen] == ["record-around-ops", "prepare"]
    assert "proton.init" not in seen[0][1]
    assert seen[1][1] == text
    assert text.count("proton.") == 4


def test_a_pass_meets_only_its_own_kind_of_text() -> None:
    with pytest.raises(UsageError, match="'prepare' works on TTIR or TTGIR and this is LLVM IR"):
        run_passes("define void @k() {\n  ret void\n}", parse_passes("prepare"))


def test_a_pass_that_breaks_a_rule_is_caught_at_once() -> None:
    class Careless:
        name: ClassVar[str] = "careless"
        level: ClassVar[str] = "ttgir"

        def apply(self, module: Any) -> None:
            load = next(op for op in module.walk() if op.name == "tt.load")
            load.insert_before('proton.record start "x"')

    with pytest.raises(ScopeMismatch, match="<ir> after careless:3: 'x' is started here"):
        run_passes(TEXT, [Careless()])
    with pytest.raises(InstrumentationError, match="cannot read"):
        run_passes(TEXT.replace("tt.load %x", "proton.record"), parse_passes("prepare"))


def test_an_error_of_a_strangers_pass_says_which_and_its_traceback_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Strange:
        name: ClassVar[str] = "strange"
        level: ClassVar[str] = "ttgir"

        def apply(self, module: Any) -> None:
            raise KeyError("oops")

    with pytest.raises(PassError, match=r"^pass 'strange' failed: KeyError: 'oops'$"):
        run_passes(TEXT, [Strange()])
    assert 'raise KeyError("oops")' in caplog.text
