"""Finds passes by name, runs them one after the other and verifies between them.

Text in, text out: the compile hook and `proton-opt` both come through here. Every pass reads the
text that the one before it wrote, so a pass never sees half an edit. `load_passes` brings in passes
and tools of a user's module, `compiler.mode_passes` knows which passes a mode needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

from proton.errors import UsageError
from proton.inkernel.ir.module import Module
from proton.inkernel.ir.nesting import verify
from proton.inkernel.ir.parse import read_module
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify as verify_llvm
from proton.inkernel.modes.mode_table import MODES
from proton.inkernel.passes import Pass, apply_pass, load_pass, register_pass, registered_passes
from proton.inkernel.passes.record_around_ops import RecordAroundOps

_PASS = re.compile(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")
_LLVM = re.compile(r"^(?:define |declare |target (?:triple|datalayout)|; ModuleID)", re.MULTILINE)
CALL = "tt.call"
_SKIPPING = ("record-around-ops", "record-loops", "record-mma", "record-async-waits")
_FUNCTION = re.compile(r'\btt\.func private @(?:"([^"]*)"|([\w.$-]+))')


def is_llvm(text: str) -> bool:
    """Whether it is LLVM IR rather than TTIR or TTGIR."""
    return _LLVM.search(text) is not None


def parse_passes(text: str) -> tuple[Pass, ...]:
    """The passes of a text such as `"record-loops{cap=16 whole=false},prepare"`.

    Raises:
        UsageError: a pass or an option is unknown or malformed; the message lists the choices.
    """
    passes, at = [], 0
    while at < len(text):
        found = _PASS.match(text, at)
        if found is None:
            raise UsageError(
                f"malformed passes {text!r} at {text[at:]!r}; write: pass,pass{{key=value}}"
            )
        passes.append(load_pass(found[1], _options(found[1], found[2] or "")))
        at = found.end()
    if not passes:
        raise UsageError("no pass is named; see: proton-opt --list")
    return tuple(passes)


def run_passes(
    text: str,
    passes: Sequence[Pass],
    *,
    path: str = "<ir>",
    is_nested: bool = True,
    after: Callable[[Pass, str], None] | None = None,
) -> str:
    """Run the passes over a module's text; the new text.

    Args:
        text: TTIR, TTGIR or LLVM IR, as each pass needs it.
        passes: what to run, in order.
        path: the name of the text in error messages.
        is_nested: whether records must nest as the text stands; those of TTGIR only.
        after: called with each pass and the text it left.

    Raises:
        FormatError: the text cannot be read.
        ScopeMismatch: records do not nest.
        InstrumentationError: the passes broke a rule, or met something they cannot record.
        PassError: a pass failed with another error.
    """
    module: Module | LlvmModule | None = None
    has_llvm = is_llvm(text)
    read = LlvmModule if has_llvm else read_module
    for each in passes:
        if has_llvm != (each.level == "llvm"):
            has, wants = "LLVM IR", "TTIR or TTGIR"
            if not has_llvm:
                has, wants = wants, has
            raise UsageError(f"{path}: pass {each.name!r} works on {wants} and this is {has}")
        module = module or read(text, path)
        apply_pass(each, module)
        if (new := module.text()) != text:
            text = new
            module = read(text, f"{path} after {each.name}")
        if isinstance(module, LlvmModule):
            verify_llvm(module)
        else:
            verify(module, is_nested=is_nested)
        if after is not None:
            after(each, text)
    return text


def _options(name: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UsageError(f"{name}: malformed option {word!r}; write key=value")
        options[key] = value
    return options


def load_passes(name: str) -> tuple[str, ...]:
    """Import a module and make the passes in it known; their names, and those of its tools.

    Args:
        name: `package.module`, also below the current folder, or the path of a `.py` file.

    Raises:
        UsageError: it cannot be imported, or has none; or one of them is wrong.
    """
    before = {*registered_passes(), *MODES}
    module = _import(name)
    own = [kind for kind in vars(module).values() if _is_pass(kind, module.__name__)]
    found = [register_pass(kind) for kind in own]
    found += [each for each in (*registered_passes(), *MODES) if each not in {*before, *found}]
    if not found:
        raise UsageError(
            f"{name}: has no pass; a pass is a frozen dataclass with name, level and apply(module)"
        )
    return tuple(found)


def _is_pass(kind: object, module: str) -> bool:
    is_own = isinstance(kind, type) and kind.__module__ == module
    return is_own and all(hasattr(kind, each) for each in ("name", "level", "apply"))


def _import(name: str) -> ModuleType:
    try:
        if name.endswith(".py"):
            return _import_file(Path(name))
        if "" not in sys.path:
            sys.path.insert(0, "")  # a command has its own folder there
        return importlib.import_module(name)
    except UsageError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise UsageError(f"{name}: cannot be imported: {text}") from error


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"proton_loaded_{path.stem}", path)
    assert spec is not None  # the name ends with .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # as for a script: it may import its neighbours
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def unrecorded_functions(text: str, passes: Iterable[Pass]) -> str:
    """What to say of the functions in TTGIR text that these passes skip; empty: nothing."""
    skipping = [each for each in passes if each.name in _SKIPPING]
    if not skipping or CALL not in text:
        return ""
    if any(isinstance(each, RecordAroundOps) and CALL in each.ops for each in skipping):
        return ""  # calls are timed as a whole, as asked
    names = (found[1] or found[2] for found in _FUNCTION.finditer(text))
    # the mangled types of its arguments follow a function's name
    listed = ", ".join(sorted({repr(name.partition("__")[0] or name) for name in names}))
    if not listed:
        return ""
    return (
        f"not recorded inside {listed}: compiled apart (noinline=True), without a buffer; leave "
        f"out noinline, or time calls as a whole with ops={CALL}"
    )
