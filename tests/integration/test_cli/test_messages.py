"""What `proton` says: one line, with the remedy, and the exit code that goes with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import proton.cli
from proton._version import __version__


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "no target was given"),
        ("--nonsense x.py", "unknown option '--nonsense'"),
        ("missing.py", "missing.py: no such file"),
        (".", ".: is a directory"),
        ("data.txt", "data.txt: is not a Python file"),
        ("--module no_such_module", "no module named 'no_such_module'"),
        ("-b nothing script.py", "unknown backend 'nothing'; choose one of"),
        ("-m nothing script.py", "unknown mode"),
        ("-d trace --output-format hatchet script.py", "cannot hold a trace session"),
        (
            "-d trace -m periodic_flushing --output-format perfetto script.py",
            "leave it out, or give it with the mode: periodic_flushing:format=perfetto",
        ),
        ("--output-format nothing script.py", "unknown output format 'nothing'; choose one of"),
        ("-n sub/ script.py", "is a folder"),
        ("report", "report needs a profile; as in: proton report run.hatchet"),
        ("report --x a.hatchet", "report: unknown option '--x'"),
        ("report a.hatchet -o b.hatchet", "b.hatchet: is named like a profile"),
        ("serve", "serve needs"),
        ("merge", "merge needs the profiles to merge"),
        ("recover", "recover needs one file and got 0; as in: proton recover run.hatchet"),
        ("recover --x a", "recover: unknown option '--x'"),
        ("convert one.hatchet", "convert needs two files and got 1"),
        ("convert --x a b", "convert: unknown option '--x'"),
        ("convert a.hatchet a.hatchet", "is one of the inputs"),
        ("convert a.hatchet b.xyz", "the suffix names no format"),
        ("doctor now", "doctor takes no arguments"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(
    words: str, said: str, runner: Any, monkeypatch: Any, capfd: Any
) -> None:
    runner.write("data.txt", "x")
    runner.write("script.py", "print('was run')")
    monkeypatch.chdir(runner.folder)
    assert proton.cli.main(words.split()) == 2
    out, err = capfd.readouterr()
    assert err.startswith("proton: ")
    assert said in err
    assert err.count("\n") == 1
    assert out == ""


def test_an_environment_that_cannot_be_read_is_exit_code_2(
    runner: Any, monkeypatch: Any, capfd: Any
) -> None:
    runner.write("script.py", "print('was run')")
    monkeypatch.chdir(runner.folder)
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "perhaps")
    assert proton.cli.main(["script.py"]) == 2
    out, err = capfd.readouterr()
    assert err.startswith("proton: environment variable TRITON_PROTON_DISABLE='perhaps' ")
    assert (out, err.count("\n")) == ("", 1)


def test_a_backend_that_this_machine_lacks_is_exit_code_1(
    runner: Any, monkeypatch: Any, capfd: Any
) -> None:
    runner.write("script.py", "print('was run')")
    monkeypatch.chdir(runner.folder)
    assert proton.cli.main(["-b", "cupti", "script.py"]) == 1
    out, err = capfd.readouterr()
    assert err.startswith("proton: backend 'cupti' is unavailable: ")
    assert err.count("\n") == 1
    assert out == ""


def test_modules_that_cannot_run_are_refused_after_a_look_inside(runner: Any) -> None:
    runner.write("package/__init__.py", "")
    missing = runner.proton("--module", "package.missing")
    assert (missing.code, missing.out, missing.err) == (2, "", "")
    assert missing.said[0].startswith("proton: no module named 'package.missing'")
    assert runner.profiles() == []


def test_a_run_that_captured_nothing_says_so_and_why(runner: Any) -> None:
    runner.write("script.py", "import sys; sys.exit(3)")
    ended = runner.proton("script.py")
    assert ended.code == 3
    assert ended.said == [
        "proton: nothing was captured: the target imported no Triton, launched no kernel and "
        "entered no scope; proton times kernels and marked parts; to time parts of it: "
        "with proton.cpu_timed_scope('part'): ...",
        "proton: wrote proton.hatchet; there is nothing in it to show",
    ]


def test_a_mistyped_command_gets_a_suggestion(runner: Any) -> None:
    ended = runner.proton("repot", "x.hatchet")
    assert ended.code == 2
    assert ended.said[0].startswith(
        "proton: repot: no such file (did you mean 'report'?); a target"
    )


def test_quiet_leaves_out_what_went_well(runner: Any) -> None:
    runner.write("script.py", "import proton\nwith proton.scope('x'): pass")
    assert runner.proton("-q", "script.py").said == []
    assert runner.profiles() == ["proton.hatchet"]


def test_losses_are_said(runner: Any) -> None:
    runner.write(
        "script.py", "import proton\nwith proton.scope('x'):\n    proton.enter_scope('open')\n"
    )
    (line,) = runner.proton("script.py").said
    assert line.startswith("proton: wrote proton.hatchet (lost: 1 unclosed_scope); see it with")


def test_a_closed_stderr_does_no_harm(runner: Any) -> None:
    runner.write("script.py", "import os, sys, proton\nwith proton.scope('x'): os.close(2)")
    ended = runner.proton("script.py")
    assert (ended.code, ended.err) == (0, "")
    assert runner.profiles() == ["proton.hatchet"]


def test_version_says_whose_it_is(runner: Any) -> None:
    ended = runner.proton("--version")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"proton {__version__} (proton-profiler), not Triton's\n"


def test_a_profile_for_stdout_goes_there_and_nowhere_else(runner: Any) -> None:
    runner.write("script.py", "import proton\nwith proton.scope('x'): print('mine')")
    ended = runner.proton("-n", "-", "script.py")
    mine, profile = ended.out.splitlines()
    assert mine == "mine"
    assert json.loads(profile)[0]["children"][0]["frame"]["name"] == "x"
    assert (ended.said, runner.profiles()) == ([], [])


def test_a_script_that_cannot_begin_keeps_the_earlier_profile(runner: Any) -> None:
    runner.write("good.py", "import proton\nwith proton.scope('part'): pass")
    runner.write("bad.py", "x = (")
    runner.proton("good.py")
    ended = runner.proton("bad.py")
    assert ended.code == 1
    (line,) = ended.said
    assert line.endswith("nothing was captured; proton.hatchet is still that of an earlier run")
    assert runner.paths() == [("part",)]
