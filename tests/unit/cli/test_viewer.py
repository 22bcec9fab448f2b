from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from proton.cli.viewer import main, style_for
from proton.files.detect import open_profile

Capture = pytest.CaptureFixture[str]


def node(name: str, metrics: dict[str, Any], *children: Any) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}


@pytest.fixture
def run(tmp_cwd: Path) -> str:
    """A profile `run.hatchet` in the current folder."""
    kernel = {"time (ns)": 5000, "count": 1, "device_id": "0", "device_type": "CUDA"}
    root = node("ROOT", {"time (ns)": 0, "count": 0}, node("a", {}, node("k", kernel)))
    (tmp_cwd / "run.hatchet").write_text(json.dumps([root, {}]))
    return "run.hatchet"


def refused(capsys: Capture, code: int, *arguments: str) -> str:
    """The one line that a wrong call prints; nothing goes to stdout."""
    assert main(arguments) == code
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.count("\n") == 1
    assert streams.err.startswith("proton-viewer: ")
    return streams.err.removeprefix("proton-viewer: ").rstrip("\n")


def test_a_profile_is_shown(run: str, capsys: Capture) -> None:
    assert main([run]) == 0
    assert capsys.readouterr().out.endswith("\n5000 ROOT\n└─ 5000 a\n   └─ 5000 k\n")


def test_no_file_is_a_wrong_call(tmp_cwd: Path, capsys: Capture) -> None:
    assert refused(capsys, 2).startswith("no file to show; give a profile")


def test_an_option_that_took_the_file_for_its_own_says_so(capsys: Capture) -> None:
    found = refused(capsys, 2, "--sass", SAMPLED)
    assert found.startswith(f"no file to show: --sass took {SAMPLED!r} for its KERNEL")
    assert f"proton-viewer --sass KERNEL {SAMPLED}" in found


def test_two_files_are_a_wrong_call(run: str, capsys: Capture) -> None:
    said = refused(capsys, 2, run, "other")
    assert said.startswith("unrecognized arguments: other; one profile is shown: --diff-profile")
    assert "see: proton-viewer --help" in refused(capsys, 2, run, "--other")


def test_a_missing_file_is_named(tmp_cwd: Path, capsys: Capture) -> None:
    assert refused(capsys, 1, "gone.hatchet").startswith("gone.hatchet: ")


def test_a_directory_is_no_profile(tmp_cwd: Path, capsys: Capture) -> None:
    (tmp_cwd / "folder").mkdir()
    assert refused(capsys, 1, "folder").startswith("folder: ")


def test_a_file_that_is_no_profile_is_named(tmp_cwd: Path, capsys: Capture) -> None:
    (tmp_cwd / "notes.txt").write_text("hello")
    assert refused(capsys, 1, "notes.txt").startswith("notes.txt: not a profile")


def test_a_file_name_cannot_control_the_terminal(tmp_cwd: Path, capsys: Capture) -> None:
    assert "\\x1b" in refused(capsys, 1, "\x1b[31m.hatchet")


def test_an_empty_file_name_is_a_wrong_call(tmp_cwd: Path, capsys: Capture) -> None:
    assert refused(capsys, 2, "") == "the name of the file is empty"


def test_an_unknown_metric_lists_the_choices(run: str, capsys: Capture) -> None:
    message = refused(capsys, 2, "-m", "tme/ms", run)
    assert "did you mean 'time/ms'?" in message
    assert "'time', 'count'" in message


def test_an_unknown_unit_lists_the_choices(run: str, capsys: Capture) -> None:
    assert "unknown unit 'hours'" in refused(capsys, 2, "-m", "time/hours", run)


def test_an_empty_metric_is_a_wrong_call(run: str, capsys: Capture) -> None:
    assert "has an empty name" in refused(capsys, 2, "-m", "time/ms,", run)


@pytest.mark.parametrize("option", ["-i", "-e"])
def test_a_bad_regular_expression_is_a_wrong_call(run: str, capsys: Capture, option: str) -> None:
    assert "'[' is not a regular expression" in refused(capsys, 2, option, "[", run)


def test_include_and_exclude_exclude_each_other(run: str, capsys: Capture) -> None:
    assert "--include and --exclude" in refused(capsys, 2, "-i", "a", "-e", "b", run)


def test_a_negative_depth_is_a_wrong_call(run: str, capsys: Capture) -> None:
    assert refused(capsys, 2, "-d", "-1", run).startswith("depth -1 is negative")


def test_a_depth_that_is_no_number_is_a_wrong_call(run: str, capsys: Capture) -> None:
    assert refused(capsys, 2, "-d", "2.5", run).startswith("depth '2.5' is not a whole number")


@pytest.mark.parametrize("threshold", ["much", "nan", "inf"])
def test_a_threshold_that_is_no_number_is_a_wrong_call(
    run: str, capsys: Capture, threshold: str
) -> None:
    assert f"threshold {threshold!r} is not a number" in refused(capsys, 2, "-t", threshold, run)


def test_a_negative_threshold_is_a_number(run: str) -> None:
    assert main(["-t", "-5", run]) == 0


def test_an_unknown_option_is_a_wrong_call(run: str, capsys: Capture) -> None:
    assert "see: proton-viewer --help" in refused(capsys, 2, "--wat", run)
    said = refused(capsys, 2, "--metrcs", "time/ms", run)
    assert (
        said == "unknown option '--metrcs' (did you mean '--metrics'?); see: proton-viewer --help"
    )


def test_an_unknown_format_lists_the_choices(run: str, capsys: Capture) -> None:
    assert "'file_function'" in refused(capsys, 2, "-f", "wat", run)


def test_a_missing_file_to_compare_with_is_named(run: str, capsys: Capture) -> None:
    assert refused(capsys, 1, "-diff", "gone.hatchet", run).startswith("gone.hatchet: ")


def test_a_metric_that_the_other_file_lacks_is_named(run: str, capsys: Capture) -> None:
    Path("other.hatchet").write_text(json.dumps([node("ROOT", {}, node("a", {"x": 1})), {}]))
    message = refused(capsys, 2, "-m", "time/us", "--diff-profile", "other.hatchet", run)
    assert message.startswith("other.hatchet: metric 'time/us' needs 'time'")


def test_an_empty_profile_says_so(tmp_cwd: Path, capsys: Capture) -> None:
    (tmp_cwd / "empty.hatchet").write_text(json.dumps([node("ROOT", {"count": 0}), {}]))
    assert refused(capsys, 1, "empty.hatchet").startswith("empty.hatchet: nothing was recorded")


def test_the_known_spelling_of_diff_is_understood(run: str, capsys: Capture) -> None:
    assert main(["-m", "time/us", "-diff", run, run]) == 0
    assert "+0.000 ROOT" in capsys.readouterr().out


def test_metrics_are_listed(run: str, capsys: Capture) -> None:
    assert main(["-l", run]) == 0
    assert "avg_time/ms" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_end_well(option: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main([option])
    assert end.value.code == 0
    assert "proton-viewer" in capsys.readouterr().out


def test_the_help_fits_a_small_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


class Terminal(io.TextIOWrapper):
    """A text stream that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("NO_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_terminal_gets_colours(clean: pytest.MonkeyPatch) -> None:
    assert style_for("auto", Terminal()).color


def test_a_pipe_gets_no_colours_and_whole_lines(clean: pytest.MonkeyPatch) -> None:
    style = style_for("auto", io.StringIO())
    assert not style.color
    assert style.width is None


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_environment_can_refuse_colours(
    clean: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    clean.setenv(variable, value)
    assert not style_for("auto", Terminal()).color
    assert style_for("always", Terminal()).color


def test_colours_can_be_refused_by_hand(clean: pytest.MonkeyPatch) -> None:
    assert not style_for("never", Terminal()).color


def test_columns_set_the_width_of_a_pipe_too(clean: pytest.MonkeyPatch) -> None:
    clean.setenv("COLUMNS", "66")
    assert style_for("auto", io.StringIO()).width == 66


def test_a_stream_without_unicode_gets_ascii(clean: pytest.MonkeyPatch) -> None:
    assert style_for("auto", Terminal("ascii")).glyphs.branch.isascii()


DATA = Path(__file__).resolve().parents[2] / "data"
SAMPLED, IN_KERNEL = str(DATA / "sampled.hatchet"), str(DATA / "in_kernel.hatchet")


def test_a_source_file_is_annotated(capsys: Capture) -> None:
    assert main(["--full", "--source", "softmax.py", SAMPLED]) == 0
    assert "v = v - tl.max(v, axis=0)" in capsys.readouterr().out


def test_hot_instructions_of_a_kernel_are_shown(capsys: Capture) -> None:
    assert main(["--sass", "softmax", SAMPLED]) == 0
    assert "softmax.py:14" in capsys.readouterr().out


def test_two_views_of_samples_at_once_are_a_wrong_call(capsys: Capture) -> None:
    assert "give one of them" in refused(capsys, 2, "--source", "a", "--sass", "b", SAMPLED)
    found = refused(capsys, 2, "--regions", "a", "--sass", "b", SAMPLED)
    assert "--sass and --regions are two views" in found
    found = refused(capsys, 2, "--origins", "--sass", "b", SAMPLED)
    assert "--sass and --origins are two views" in found
    found = refused(capsys, 2, "--origins", "--json", SAMPLED)
    assert "leave out --origins" in found


@pytest.mark.parametrize(
    ("option", "file"), [("--source", SAMPLED), ("--sass", SAMPLED), ("--regions", IN_KERNEL)]
)
def test_what_matches_nothing_lists_the_candidates(option: str, file: str, capsys: Capture) -> None:
    assert "matmul" in refused(capsys, 2, option, "nothing", file)


@pytest.mark.parametrize("option", ["--source", "--sass"])
def test_a_profile_without_samples_says_how_to_record_some(
    option: str, run: str, capsys: Capture
) -> None:
    assert 'record with mode="pcsampling"' in refused(capsys, 1, option, "k", run)


@pytest.mark.parametrize("arguments", [["--regions", IN_KERNEL], [IN_KERNEL, "--regions"]])
def test_regions_of_all_kernels_are_shown_where_none_is_named(
    arguments: list[str], capsys: Capture
) -> None:
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    kernels = dict.fromkeys(kernel.kernel for kernel in open_profile(IN_KERNEL).in_kernel)
    assert len(kernels) > 1
    for kernel in kernels:
        assert main(["--regions", kernel, IN_KERNEL]) == 0
        own = capsys.readouterr().out.split("\n\n", 1)[1]
        assert own.rstrip() in shown


def test_regions_of_a_kernel_are_shown(capsys: Capture) -> None:
    assert main(["--regions", "matmul", IN_KERNEL]) == 0
    assert "wait tile  matmul.py:55" in capsys.readouterr().out


def test_a_profile_without_records_says_how_to_get_some(run: str, capsys: Capture) -> None:
    found = refused(capsys, 1, "--regions", "k", run)
    assert 'record with backend="instrumentation"' in found


def test_a_digest_is_printed_as_json_and_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DATA / "gpt.hatchet")
    assert main(["--json", path]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "proton-digest/1"
    assert main(["--markdown", path]) == 0
    assert capsys.readouterr().out.startswith("# Profile `")


@pytest.mark.parametrize("by", ["module", "op", "kernel", "line"])
def test_a_table_by_group_is_printed_for_people_and_for_scripts(
    by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(DATA / "training.hatchet")
    assert main(["--group-by", by, path]) == 0
    assert f"\n{by} " in capsys.readouterr().out
    assert main(["--group-by", by, "--json", path]) == 0
    assert json.loads(capsys.readouterr().out)["group_by"] == by
    assert main(["--group-by", by, "--markdown", path]) == 0
    assert f"| {by} |" in capsys.readouterr().out


@pytest.mark.parametrize("other", ["--list", "--depth=3", "--sass=k", "--hide=library", "-mtime"])
def test_a_table_by_group_has_columns_of_its_own(
    other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--group-by=op", other, "x"]) == 2
    assert "--group-by is a table with columns of its own; leave out --" in capsys.readouterr().err


def test_a_table_by_group_is_json_or_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--group-by=op", "--json", "--markdown", "x"]) == 2
    assert "leave out --json" in capsys.readouterr().err


@pytest.mark.parametrize("other", ["--markdown", "--list", "--depth=3", "--sass=k"])
def test_a_digest_stands_alone(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", other, "x"]) == 2
    assert "is a digest of the whole profile; leave out --" in capsys.readouterr().err


def test_a_value_that_is_none_of_the_choices_is_told_in_our_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--group-by", "kernl", "x.hatchet"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("proton-viewer: unknown value for '--group-by': 'kernl'; choose one of")
    assert "did you mean 'kernel'" in said
