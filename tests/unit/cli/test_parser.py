"""Tests of the words of all commands, and of the help that comes of the same parsers."""

from __future__ import annotations

import argparse

import pytest

from proton.cli.parser import COMMANDS, RUN, build_parser, parse
from proton.cli.run import VERSION, request_of, target_of
from proton.cli.target import Target
from proton.errors import UsageError
from proton.inkernel.modes.mode_table import MODES
from proton.runtime.request import FITTING_CONTEXT, SessionRequest


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def help_text(command: str = RUN) -> str:
    _, branches = build_parser(command)
    return branches[command].format_help()


def target(*words: str) -> Target:
    return target_of(parse(words))


def refusal(*words: str) -> str:
    with pytest.raises(UsageError) as caught:
        arguments = parse(words)
        target_of(arguments)
        request_of(arguments)
    return str(caught.value)


def test_a_script_gets_everything_behind_it() -> None:
    words = ("script.py", "-n", "x", "--", "--version", "-h", "--module=y", "-qq")
    assert target(*words) == Target("script.py", words[1:])
    assert request_of(parse(words)) == SessionRequest(context=FITTING_CONTEXT)


def test_every_option_is_read_in_its_long_form() -> None:
    words = (
        "--name n --backend b --context python --mode m:k=v --data trace --hook triton "
        "--output-format chrome_trace --follow-children --quiet s.py"
    )
    arguments = parse(words.split())
    assert target_of(arguments) == Target("s.py")
    assert request_of(arguments) == SessionRequest(
        name="n",
        backend="b",
        context="python",
        mode="m:k=v",
        data="trace",
        hook="triton",
        output_format="chrome_trace",
    )
    assert (arguments.follow_children, arguments.quiet) == (True, True)


@pytest.mark.parametrize(
    "words", ["--instrument=ops+mma", "--instrument ops+mma -b instrumentation"]
)
def test_instrument_is_short_for_a_backend_and_its_mode(words: str) -> None:
    request = request_of(parse([*words.split(), "s.py"]))
    assert (request.backend, request.mode) == ("instrumentation", "ops+mma")


@pytest.mark.parametrize("words", ["-n x -q s.py", "-nx -q s.py", "-qnx s.py", "-qn x s.py"])
def test_short_options_may_be_joined(words: str) -> None:
    arguments = parse(words.split())
    assert (arguments.name, arguments.quiet, arguments.target) == ("x", True, ["s.py"])


@pytest.mark.parametrize("words", [["--name=a=b", "s.py"], ["-n=a=b", "s.py"]])
def test_a_value_may_be_joined_by_an_equals_sign(words: list[str]) -> None:
    assert parse(words).name == "a=b"


def test_a_value_may_look_like_a_flag() -> None:
    assert parse(["-n", "-", "s.py"]).name == "-"


@pytest.mark.parametrize("word", ["pytest", "/usr/bin/pytest", "py.test"])
def test_pytest_is_known_by_its_base_name(word: str) -> None:
    assert target(word, "-q") == Target("pytest", ("-q",), is_module=True)


@pytest.mark.parametrize(
    "words", [["--module", "a.b"], ["--module=a.b"], ["-qn", "x", "--module=a.b"]]
)
def test_a_module_ends_the_options(words: list[str]) -> None:
    rest = ("-n", "--", "-h", "--module=c")
    assert target(*words, *rest) == Target("a.b", rest, is_module=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_first_word_that_is_a_command_is_one(command: str) -> None:
    if command == "doctor":
        assert parse([command]).command == command
    else:
        assert (parse([command, "x"]).command, parse([command, "x"]).files) == (command, ["x"])


@pytest.mark.parametrize("words", [["--", "doctor"], ["-q", "doctor"]])
def test_a_command_word_elsewhere_is_a_target(words: list[str]) -> None:
    assert target(*words) == Target("doctor")


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["-n", "x", "-h", "s.py"], ["-qh"]])
def test_help_is_asked_for_before_the_target(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(words)
    assert capsys.readouterr().out == help_text()


@pytest.mark.parametrize("words", [["--version"], ["-V"]])
def test_version_is_asked_for(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(words)
    assert capsys.readouterr().out == f"{VERSION}\n"


def test_files_of_a_command_may_stand_before_and_behind_its_options() -> None:
    arguments = parse(["merge", "a", "-o", "out", "b", "--by-order", "c", "--", "-d"])
    assert arguments == argparse.Namespace(
        command="merge",
        files=["a", "b", "c", "-d"],
        output="out",
        by_order=True,
        skip_broken=False,
        force=False,
        run=arguments.run,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no target was given; name a script"),
        (["-q"], "no target was given"),
        (["-m", "a.b"], "('-m' is the mode; a module: --module a.b)"),
        (["--instrument", "s.py"], "('s.py' was taken as the value of --instrument)"),
        (["-m", "s.py"], "('s.py' was taken as the value of --mode)"),
        (["--"], "no target follows '--'"),
        (["--follow-childs", "s.py"], "(did you mean '--follow-children'?); see: proton --help"),
        (["--zzz=1", "s.py"], "unknown option '--zzz'; see: proton --help"),
        (["-z", "s.py"], "unknown option '-z'; see: proton --help"),
        (["-qz", "s.py"], "unknown option '-z'; see: proton --help"),
        (["--con", "python", "s.py"], "unknown option '--con'"),
        (["--module"], "'--module' needs a value: --module MODULE"),
        (["--module=", "s.py"], "'--module' needs a value: --module MODULE"),
        (["merge", "-o"], "merge: -o needs a file; as in: -o run.hatchet"),
        (["merge", "--by-orders"], "(did you mean '--by-order'?); see: proton merge --help"),
        (["doctor", "-x"], "doctor: unknown option '-x'; see: proton doctor --help"),
        (["-n"], "'-n' needs a value: -n NAME"),
        (["--backend"], "'--backend' needs a value"),
        (["--backend=", "s.py"], "'--backend' needs a value"),
        (["--quiet=1", "s.py"], "'--quiet' takes no value"),
        (["-c", "deep", "s.py"], "unknown value for '-c': 'deep'; choose one of 'blame', 'ops'"),
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


def test_help_names_every_option_and_shows_examples() -> None:
    text = help_text()
    _, branches = build_parser(RUN)
    names = [name for action in branches[RUN].actions for name in action.option_strings]
    assert "--follow-children" in names
    assert all(name in text for name in names)
    assert "examples:\n  proton matmul.py" in text
    assert "python -m proton" in text


def test_help_names_every_mode_that_records_by_itself() -> None:
    (line,) = (line for line in help_text().splitlines() if "--instrument " in line)
    assert {mode.strip() for mode in line.partition(":")[2].split(",")} == {*MODES} - {"call-at"}


def test_help_offers_every_command() -> None:
    section = help_text().split("commands:\n")[1].split("\n\n")[0]
    offered = [line.split()[0] for line in section.splitlines()]
    assert offered == list(COMMANDS)


@pytest.mark.parametrize("command", [RUN, *COMMANDS])
def test_help_fits_a_terminal(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(len(line) for line in help_text(command).splitlines()) <= 100
    monkeypatch.setenv("COLUMNS", "60")
    options = help_text(command).partition("options:\n")[2].partition("\n\n")[0]
    assert max(len(line) for line in options.splitlines()) <= 60
