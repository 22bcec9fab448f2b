from proton.inkernel.compiler.mode_passes import recording_passes
from proton.inkernel.compiler.pipeline import unrecorded_functions
from proton.inkernel.modes.mode_table import parse_instrumentation

TEXT = """\
module {
  tt.func public @kernel() {
    tt.call @m.square__Pfp32() : () -> ()
    tt.call @"m.cube__(1,)"() : () -> ()
    tt.return
  }
  tt.func private @m.square__Pfp32() attributes {noinline = true} {
    tt.return
  }
  tt.func private @"m.cube__(1,)"() attributes {noinline = true} {
    tt.return
  }
}
"""


def said(mode: str, text: str = TEXT) -> str:
    return unrecorded_functions(text, recording_passes(parse_instrumentation(mode)))


def test_functions_are_named_as_in_the_source() -> None:
    for mode in ("ops", "loops", "mma", "async-wait", "default+ops"):
        assert said(mode).startswith("not recorded inside 'm.cube', 'm.square': compiled apart")


def test_there_is_nothing_to_say_where_nothing_was_asked_or_nothing_is_left_out() -> None:
    for mode in ("default", "cta", "bytes", "memory", "ops:ops=load,tt.call"):
        assert said(mode) == ""
    assert said("ops", "module {\n  tt.func public @k() {\n    tt.return\n  }\n}\n") == ""
