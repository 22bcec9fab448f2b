"""Runs passes one after the other and verifies between them; `recipe` says which a mode needs.

Text in, text out: the compile hook and `proton-opt` both come through here. Every pass reads the
text that the one before it wrote, so a pass never sees half an edit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from proton.errors import UsageError
from proton.inkernel.passes import Pass, apply_pass, load_pass

# level -> how its text is read, and how its modules are verified
LEVELS = {
    "ttgir": ("proton.inkernel.ir.parse:read_module", "proton.inkernel.ir.verify:verify"),
    "llvm": ("proton.inkernel.llvm.module:read_module", "proton.inkernel.llvm.verify:verify"),
}

_PASS = re.compile(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")
_LLVM = re.compile(r"^(?:define |declare |target (?:triple|datalayout)|; ModuleID)", re.MULTILINE)


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
    module: Any = None
    for each in passes:
        has_llvm = is_llvm(text)
        if has_llvm != (each.level == "llvm"):
            has = "LLVM IR" if has_llvm else "TTIR or TTGIR"
            wants = "LLVM IR" if each.level == "llvm" else "TTIR or TTGIR"
            raise UsageError(f"{path}: pass {each.name!r} works on {wants} and this is {has}")
        read, verify = (_load(target) for target in LEVELS[each.level])
        module = module or read(text, path)
        apply_pass(each, module)
        if (new := module.text()) != text:
            text = new
            module = read(text, f"{path} after {each.name}")
        verify(module) if each.level == "llvm" else verify(module, is_nested=is_nested)
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


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
