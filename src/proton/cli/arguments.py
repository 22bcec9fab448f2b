"""The words of a `proton` command line, as frozen values; runs nothing and looks at no file.

Written by hand and not with argparse: everything behind the target belongs to the target, flags
like ours included, and every mistake is one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from proton.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
# Each a module of this room with USAGE and run(words) -> exit code.
COMMANDS = ("doctor", "report", "serve", "convert", "merge", "recover")


class TargetKind(Enum):
    """How a target is found and run."""

    SCRIPT = "script"
    MODULE = "module"  # pytest is one


@dataclass(frozen=True, slots=True)
class Target:
    """What to profile: a script's path or a module's name, and the arguments it gets."""

    kind: TargetKind
    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """One `proton [options] target` call. None means: not said, take the default."""

    target: Target
    name: str | None = None
    backend: str | None = None
    context: str = "shadow"
    mode: str | None = None
    data: str = "tree"
    hook: str | None = None
    output_format: str = ""
    follow_children: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """One `proton command words...` call."""

    command: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompletionArguments:
    """One `proton --completion SHELL` call."""

    shell: str


class Question(Enum):
    """What was asked instead of running something."""

    HELP = "help"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Option:
    """One flag: its spellings, what its value may be (no metavar: it takes none), its help."""

    long: str
    help: str
    short: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The name of the value in RunArguments."""
        return self.long.replace("-", "_")


OPTIONS = (
    Option("name", "name of the profile and its file; default 'proton'", "n", "NAME"),
    Option("backend", "what records the work; default: what fits the machine", "b", "BACKEND"),
    Option(
        "context", "paths of scope names, or of Python frames", "c", "KIND", ("shadow", "python")
    ),
    Option("mode", "options of the backend: name[:key=value...]", "m", "MODE"),
    Option(
        "instrument",
        "in kernels: default, ops, loops, mma, async-wait, cta, bytes, memory",
        metavar="MODE",
    ),
    Option("data", "sums in a calling tree, or a timeline", "d", "KIND", ("tree", "trace")),
    Option("hook", "take names and metrics from launch metadata", "k", "HOOK", ("triton",)),
    Option(
        "output-format",
        "hatchet, hatchet_msgpack (trees), chrome_trace or perfetto (traces)",
        metavar="FORMAT",
    ),
    Option("module", "run a module, as python -m does", metavar="MODULE"),
    Option("follow-children", "profile child Python processes too, each as NAME.PID"),
    Option("quiet", "do not say what was written", "q"),
    Option("completion", "print what makes a shell complete all this", "", "SHELL", SHELLS),
    Option("version", "print the version and whose it is", "V"),
    Option("help", "print this text", "h"),
)
_INSTRUMENTATION = "instrumentation"
_BY_LONG = {option.long: option for option in OPTIONS}
_BY_SHORT = {option.short: option for option in OPTIONS if option.short}


def parse(
    argv: Sequence[str],
) -> RunArguments | CommandArguments | CompletionArguments | Question:
    """The meaning of the words after `proton`.

    Raises:
        UsageError: they have none; the text says what to write instead.
    """
    if argv and argv[0] in COMMANDS:
        return CommandArguments(argv[0], tuple(argv[1:]))
    given: dict[str, Any] = {}
    words = list(argv)
    target: Target | None = None
    while words and target is None:
        word = words.pop(0)
        if word == "--":
            target = _target(words)
        elif word.startswith("--"):
            _take_long(word, words, given)
        elif word.startswith("-") and word != "-":
            _take_short(word, words, given)
        else:
            target = _target([word, *words])
        if "help" in given:
            return Question.HELP
        if "version" in given:
            return Question.VERSION
        if "completion" in given:
            return CompletionArguments(given["completion"])
        if "module" in given:
            target = Target(TargetKind.MODULE, str(given.pop("module")), tuple(words))
    if target is None:
        raise UsageError(
            f"no target was given{_taken(given)}; name a script, pytest or a module, "
            "as in: proton script.py"
        )
    return RunArguments(target=target, **_with_instrument(given))


def _taken(given: dict[str, Any]) -> str:
    """Which option swallowed the word that may have been meant as the target."""
    for option, value in given.items():
        if isinstance(value, str) and value.endswith(".py"):
            return f" ({value!r} was taken as the value of --{option.replace('_', '-')})"
    return f" ('-m' is the mode; a module: --module {given['mode']})" if "mode" in given else ""


def _with_instrument(given: dict[str, Any]) -> dict[str, Any]:
    """`--instrument=MODE` as what it is short for: a backend and its mode."""
    if "instrument" not in given:
        return given
    mode = given.pop("instrument")
    if given.get("backend", _INSTRUMENTATION) != _INSTRUMENTATION or "mode" in given:
        other = "--mode" if "mode" in given else f"--backend {given['backend']}"
        raise UsageError(
            f"--instrument={mode} and {other} exclude each other: it is short for "
            f"--backend {_INSTRUMENTATION} --mode {mode}"
        )
    return {**given, "backend": _INSTRUMENTATION, "mode": mode}


def _target(words: list[str]) -> Target:
    """The target that starts with the first of `words`."""
    if not words:
        raise UsageError("no target follows '--'; name a script, as in: proton -- script.py")
    name, *rest = words
    if name.rpartition("/")[2] in ("pytest", "py.test"):
        return Target(TargetKind.MODULE, "pytest", tuple(rest))
    return Target(TargetKind.SCRIPT, name, tuple(rest))


def _take_long(word: str, words: list[str], given: dict[str, Any]) -> None:
    """Read `--flag`, `--flag value` or `--flag=value` into `given`, eating from `words`."""
    name, equals, value = word[2:].partition("=")
    if (option := _BY_LONG.get(name)) is None:
        close = difflib.get_close_matches(name, _BY_LONG, n=1)
        remedy = f"did you mean '--{close[0]}'? " if close else ""
        raise UsageError(f"unknown option '--{name}'; {remedy}see: proton --help")
    if not option.metavar:
        if equals:
            raise UsageError(f"'--{name}' takes no value, {value!r} was given; write '--{name}'")
        given[option.field] = True
    elif equals:
        given[option.field] = _checked(option, f"--{name}", value)
    else:
        given[option.field] = _checked(option, f"--{name}", _next(f"--{name}", option, words))


def _take_short(word: str, words: list[str], given: dict[str, Any]) -> None:
    """Read `-f`, `-fvalue`, `-f value` or several flags in one word into `given`."""
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if (option := _BY_SHORT.get(letter)) is None:
            raise UsageError(f"unknown option '-{letter}'; see: proton --help")
        if not option.metavar:
            given[option.field] = True
            continue
        value = letters.removeprefix("=") if letters else _next(f"-{letter}", option, words)
        given[option.field] = _checked(option, f"-{letter}", value)
        return


def _next(flag: str, option: Option, words: list[str]) -> str:
    """The word after a flag that needs one."""
    if not words:
        raise UsageError(f"'{flag}' needs a value: {flag} {option.metavar}")
    return words.pop(0)


def _checked(option: Option, flag: str, value: str) -> str:
    """`value`, if the option may have it."""
    if option.choices and value not in option.choices:
        raise UsageError.unknown(f"value for '{flag}':", value, choices=option.choices)
    if not value and option.field in ("backend", "module", "instrument"):
        raise UsageError(f"'{flag}' needs a value: {flag} {option.metavar}")
    return value
