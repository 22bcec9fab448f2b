"""Tests of the lines that end a run."""

from __future__ import annotations

import io

import pytest

from proton.cli import say
from proton.cli.profiled_run import describe
from proton.runtime.command_line import Ending


def lines(ending: Ending, *, quiet: bool = False) -> list[str]:
    return describe(ending, folder="/home/me", quiet=quiet)


def test_a_file_below_the_users_folder_is_named_from_there() -> None:
    assert lines(Ending(paths=("/home/me/a b.hatchet",))) == [
        "wrote a b.hatchet; see it with: proton-viewer 'a b.hatchet'"
    ]


def test_a_file_elsewhere_keeps_its_path() -> None:
    assert lines(Ending(paths=("/home/mean/x.hatchet",))) == [
        "wrote /home/mean/x.hatchet; see it with: proton-viewer /home/mean/x.hatchet"
    ]


def test_several_files_are_counted() -> None:
    paths = tuple(f"/home/me/x.part_{n}.hatchet" for n in range(3))
    (line,) = lines(Ending(paths=paths))
    assert line.startswith("wrote 3 files, x.part_0.hatchet to x.part_2.hatchet; ")


def test_losses_are_listed() -> None:
    (line,) = lines(Ending(paths=("/x.hatchet",), losses={"b": 2, "a": 1}))
    assert line.startswith("wrote /x.hatchet (lost: 1 a, 2 b); ")


def test_losses_are_said_even_where_no_file_was_written() -> None:
    assert lines(Ending(losses={"a": 1})) == ["the profile is not complete (lost: 1 a)"]


def test_a_failure_and_an_empty_profile_are_said_even_when_quiet() -> None:
    ending = Ending(error="x: full\ny: full", is_empty=True, paths=("/x",))
    *failed, empty = lines(ending, quiet=True)
    assert failed == ["x: full", "y: full"]
    assert empty.startswith("nothing was captured: the target ")


def test_a_trace_is_opened_elsewhere() -> None:
    wrote, smaller = lines(Ending(paths=("/x.chrome_trace",)))
    assert wrote.endswith("; open it in https://ui.perfetto.dev")
    assert smaller == "as .pftrace it would be much smaller: --output-format perfetto"
    (wrote,) = lines(Ending(paths=("/x.pftrace",)))
    assert wrote.endswith("; open it in https://ui.perfetto.dev")


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_saying_something_to_nobody_does_no_harm(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stream is not None:
        stream.close()
    monkeypatch.setattr("sys.stderr", stream)
    say(["x"])


def test_a_run_whose_only_kernel_failed_is_not_told_that_it_launched_none() -> None:
    missed = "all that was seen was lost: 1 failed_kernel"
    (line,) = lines(Ending(is_empty=True, missed=missed), quiet=True)
    assert line == "nothing was captured: all that was seen was lost: 1 failed_kernel"


def test_an_earlier_profile_that_was_kept_is_said_in_one_line() -> None:
    ending = Ending(is_empty=True, kept="/home/me/run.hatchet")
    assert lines(ending) == ["nothing was captured; run.hatchet is still that of an earlier run"]
