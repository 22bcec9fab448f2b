"""Tests of the command line's words."""

from __future__ import annotations

import pytest

from proton.cli.arguments import (
    COMMANDS,
    CommandArguments,
    Question,
    RunArguments,
    Target,
    TargetKind,
    parse,
)
from proton.errors import UsageError


def parsed(*words: str) -> RunArguments:
    arguments = parse(words)
    assert isinstance(arguments, RunArguments)
    return arguments


def refusal(*words: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(words)
    return str(caught.value)


def test_a_script_gets_everything_behind_it() -> None:
    arguments = parsed("script.py", "-n", "x", "--", "--version", "-h")
    assert arguments == RunArguments(
        target=Target(TargetKind.SCRIPT, "script.py", ("-n", "x", "--", "--version", "-h"))
    )


def test_every_option_is_read_in_its_long_form() -> None:
    words = (
        "--name n --backend b --context python --mode m:k=v --data trace --hook triton "
        "--output-format chrome_trace --follow-children --quiet s.py"
    )
    assert parsed(*words.split()) == RunArguments(
        target=Target(TargetKind.SCRIPT, "s.py"),
        name="n",
        backend="b",
        context="python",
        mode="m:k=v",
        data="trace",
        hook="triton",
        output_format="chrome_trace",
        follow_children=True,
        quiet=True,
    )


@pytest.mark.parametrize(
    "words", ["--instrument=ops+mma", "--instrument ops+mma -b instrumentation"]
)
def test_instrument_is_short_for_a_backend_and_its_mode(words: str) -> None:
    arguments = parsed(*words.split(), "s.py")
    assert (arguments.backend, arguments.mode) == ("instrumentation", "ops+mma")


@pytest.mark.parametrize("words", ["-n x -q s.py", "-nx -q s.py", "-qnx s.py", "-qn x s.py"])
def test_short_options_may_be_joined(words: str) -> None:
    arguments = parsed(*words.split())
    assert (arguments.name, arguments.quiet, arguments.target.name) == ("x", True, "s.py")


@pytest.mark.parametrize("words", [["--name=a=b", "s.py"], ["-n=a=b", "s.py"]])
def test_a_value_may_be_joined_by_an_equals_sign(words: list[str]) -> None:
    assert parsed(*words).name == "a=b"


def test_a_value_may_look_like_a_flag() -> None:
    assert parsed("-n", "-", "s.py").name == "-"


@pytest.mark.parametrize("word", ["pytest", "/usr/bin/pytest", "py.test"])
def test_pytest_is_known_by_its_base_name(word: str) -> None:
    assert parsed(word, "-q").target == Target(TargetKind.MODULE, "pytest", ("-q",))


@pytest.mark.parametrize("words", [["--module", "a.b", "-n"], ["--module=a.b", "-n"]])
def test_a_module_ends_the_options(words: list[str]) -> None:
    assert parsed(*words).target == Target(TargetKind.MODULE, "a.b", ("-n",))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_first_word_that_is_a_command_is_one(command: str) -> None:
    assert parse([command, "x"]) == CommandArguments(command, ("x",))


@pytest.mark.parametrize("words", [["--", "doctor"], ["-q", "doctor"]])
def test_a_command_word_elsewhere_is_a_target(words: list[str]) -> None:
    assert parsed(*words).target == Target(TargetKind.SCRIPT, "doctor")


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["-n", "x", "-h", "s.py"], ["-qh"]])
def test_help_is_asked_for_before_the_target(words: list[str]) -> None:
    assert parse(words) is Question.HELP


@pytest.mark.parametrize("words", [["--version"], ["-V"]])
def test_version_is_asked_for(words: list[str]) -> None:
    assert parse(words) is Question.VERSION


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no target was given; name a script"),
        (["-q"], "no target was given"),
        (["-m", "a.b"], "('-m' is the mode; a module: --module a.b)"),
        (["--instrument", "s.py"], "('s.py' was taken as the value of --instrument)"),
        (["-m", "s.py"], "('s.py' was taken as the value of --mode)"),
        (["--"], "no target follows '--'"),
        (["--follow-childs", "s.py"], "did you mean '--follow-children'?"),
        (["--zzz=1", "s.py"], "unknown option '--zzz'; see: proton --help"),
        (["-z", "s.py"], "unknown option '-z'; see: proton --help"),
        (["-n"], "'-n' needs a value: -n NAME"),
        (["--backend"], "'--backend' needs a value"),
        (["--backend=", "s.py"], "'--backend' needs a value"),
        (["--quiet=1", "s.py"], "'--quiet' takes no value"),
        (["-c", "deep", "s.py"], "unknown value for '-c': 'deep'; choose one of 'python', 'sha"),
        (["-d", "heap", "s.py"], "'heap'; choose one of 'trace', 'tree'"),
        (["-k", "launch", "s.py"], "'launch'; choose one of 'triton'"),
        (["--instrument=ops", "-b", "cupti", "s.py"], "--instrument=ops and --backend cupti excl"),
        (["--instrument=ops", "-m", "mma", "s.py"], "--instrument=ops and --mode exclude each"),
        (["--instrument=", "s.py"], "'--instrument' needs a value: --instrument MODE"),
    ],
)
def test_a_wrong_call_is_told_what_to_write(words: list[str], said: str) -> None:
    text = refusal(*words)
    assert said in text
    assert "\n" not in text
