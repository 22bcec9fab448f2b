"""What `proton-viewer` shows on a terminal without being told what, and only there."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.kernel_table import kernel_table
from proton.analysis.prepare import prepare
from proton.cli.viewer import _options, main, make_parser
from proton.files.detect import open_profile
from proton.files.write import write_profile
from proton.model.in_kernel import RecordedKernel
from proton.render.display_names import shown_names
from proton.render.text.view_content import ESTIMATED
from tests.support.profiles import Row, profile_of
from tests.support.sampling import SAMPLING
from tests.support.terminal import Terminal

DATA = Path(__file__).parents[2] / "data"
KERNELS = str(DATA / "h200/kernels.hatchet")
GPT2 = str(DATA / "h200/gpt2.hatchet")
PYTHON = str(DATA / "triton36_python.hatchet")


def on_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str, columns: int = 120) -> str:
    """What the command prints on a terminal that is `columns` wide, without colours."""
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["--color", "never", *arguments]) == 0
    return out.getvalue()


def test_autotuning_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(monkeypatch, KERNELS)
    head, said = text.splitlines()[:2]
    assert "54 kernels" in head
    assert "total 4.45 ms" in head
    assert said == "autotuning took 1 147 ms (99.6 %), left out; --with-autotune counts it"
    assert "<autotune>" not in text


@pytest.mark.parametrize("argument", ["--with-autotune", "--metrics=time/ms"])
def test_autotuning_is_counted_where_asked_for_or_metrics_are_named(
    monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    text = on_terminal(monkeypatch, argument, KERNELS)
    assert "total 1 151 ms" in text
    assert "autotuning took" not in text
    assert "<autotune>" in text


def test_who_names_metrics_is_told_that_autotuning_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "autotuning counts here: it took 1 147 ms (99.6 %)"
    assert said in on_terminal(monkeypatch, "-m", "time/ms,util", KERNELS).splitlines()
    assert said not in on_terminal(monkeypatch, "-m", "time/ms", "--with-autotune", KERNELS)
    assert said not in on_terminal(monkeypatch, "-m", "time/ms", GPT2)
    monkeypatch.undo()
    assert main(["-m", "time/ms", KERNELS]) == 0
    assert said not in capsys.readouterr().out


def test_a_tree_in_a_pipe_says_that_autotuning_counts(capsys: pytest.CaptureFixture[str]) -> None:
    said = "autotuning counts here: it took 1 147 ms (99.6 %)"
    assert main([KERNELS]) == 0
    assert said in capsys.readouterr().out.splitlines()
    assert main(["--with-autotune", KERNELS]) == 0
    assert said not in capsys.readouterr().out


@pytest.mark.parametrize("form", [(), ("--markdown",), ("--json",)])
def test_groups_leave_autotuning_out_in_every_form_and_say_so(
    capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    assert main(["--group-by", "kernel", *form, KERNELS]) == 0
    text = capsys.readouterr().out
    if form == ("--json",):
        table = json.loads(text)
        assert table["autotuning"]["share"] == pytest.approx(0.996, abs=1e-3)
        assert table["total"]["time_ns"] < 5e6
    else:
        assert "autotuning took 1 147 ms (99.6 %), left out; --with-autotune counts it" in text
    assert main(["--group-by", "kernel", *form, "--with-autotune", KERNELS]) == 0
    assert "left out" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "view", [("--source", "a.py"), ("--sass", "k"), ("--regions",), ("--origins",)]
)
def test_views_of_kernels_leave_autotuning_out_in_a_pipe_too(view: tuple[str, ...]) -> None:
    arguments = make_parser().parse_args([KERNELS, *view])
    assert _options(arguments).without_autotune
    counted = make_parser().parse_args([KERNELS, *view, "--with-autotune"])
    assert not _options(counted).without_autotune


def test_a_list_has_no_column_of_dashes(monkeypatch: pytest.MonkeyPatch) -> None:
    in_kernel = str(DATA / "in_kernel.hatchet")
    assert "time us  name" in on_terminal(monkeypatch, "--print-sorted", in_kernel).splitlines()
    asked = on_terminal(monkeypatch, "--print-sorted", "-m", "time/us,cycles", in_kernel)
    assert "time us  cycles  name" in asked.splitlines()


def test_a_pipe_gets_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([KERNELS]) == 0
    text = capsys.readouterr().out
    assert "total 1 151 ms" in text
    assert "autotuning took" not in text


def test_a_digest_leaves_it_out_of_a_pipe_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--markdown", KERNELS]) == 0
    text = capsys.readouterr().out
    assert "- GPU time: 4.45 ms, 54 kernels" in text
    assert "- autotuning took 1 147 ms (99.6 % of the recorded time), left out" in text
    assert main(["--markdown", "--with-autotune", KERNELS]) == 0
    assert "- GPU time: 1 151 ms, 20 204 kernels" in capsys.readouterr().out


def names_in(text: str) -> list[str]:
    drawn = (line for line in text.splitlines() if "─ " in line or "- " in line)
    return [line.split()[-1] for line in drawn]


def test_the_largest_come_first_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([GPT2, "-d", "3"]) == 0
    recorded = names_in(capsys.readouterr().out)
    shown = names_in(on_terminal(monkeypatch, GPT2, "-d", "3"))
    assert sorted(shown) == sorted(recorded)
    assert shown.index("backward") < shown.index("forward")
    assert recorded.index("forward") < recorded.index("backward")
    assert names_in(on_terminal(monkeypatch, GPT2, "-d", "3", "--sort", "recorded")) == recorded
    assert names_in(on_terminal(monkeypatch, GPT2, "-d", "3", "-m", "time/ms")) == recorded


@pytest.mark.parametrize(
    "view", [["--source", "k.py"], ["--sass", "kernel"], ["--regions"], ["--list"]]
)
def test_heads_of_other_views_leave_autotuning_out_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, view: list[str]
) -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "kernel", {"time (ns)": 4_000, "count": 2}),
        (1, "<autotune>", {}),
        (2, "kernel", {"time (ns)": 12_000, "count": 6}),
    ]
    profile = replace(profile_of(rows), sampling=SAMPLING, in_kernel=[RecordedKernel("kernel")])
    path = str(tmp_path / "run.hatchet")
    write_profile(profile, path)
    text = on_terminal(monkeypatch, *view, path)
    assert "2 kernels" in text
    assert "total 4.00 us" in text
    assert "autotuning took 12.0 us (75.0 %), left out; --with-autotune counts it" in text
    assert "samples of a kernel include those of its trials" in text
    assert "8 kernels" in on_terminal(monkeypatch, "--with-autotune", *view, path)


def test_both_sides_of_a_difference_say_their_total_and_what_autotuning_took(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [str(tmp_path / f"{name}.hatchet") for name in ("before", "after")]
    for path, time_ns in zip(paths, (3_000, 5_000), strict=True):
        rows: list[Row] = [
            (0, "ROOT", {}),
            (1, "kernel", {"time (ns)": time_ns, "count": 1}),
            (1, "<autotune>", {}),
            (2, "kernel", {"time (ns)": 9 * time_ns, "count": 9}),
        ]
        write_profile(profile_of(rows), path)
    monkeypatch.chdir(tmp_path)
    lines = on_terminal(monkeypatch, "-diff", "before.hatchet", "after.hatchet").splitlines()
    assert lines[0].endswith("total 5.00 us")
    assert lines[1].startswith("autotuning took 45.0 us (90.0 %), left out")
    assert lines[2] == "minus before.hatchet   total 3.00 us"
    assert lines[3].startswith("autotuning took 27.0 us (90.0 %), left out")


def test_digits_are_in_groups_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([GPT2]) == 0
    assert "\n1924.958 ROOT\n" in capsys.readouterr().out
    assert "\n1 924.958 ROOT\n" in on_terminal(monkeypatch, GPT2)
    assert "\n1924.958 ROOT\n" in on_terminal(monkeypatch, GPT2, "-m", "time/ms")


def test_names_of_siblings_stay_distinct_where_they_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = on_terminal(monkeypatch, KERNELS, columns=80).splitlines()
    kernels = [line.split(" ", 2)[2] for line in lines if line.startswith(("|- ", "`- "))]
    assert len(kernels) > 20
    assert len(set(kernels)) == len(kernels)
    assert max(map(len, lines)) <= 80


def test_a_list_has_the_quantiles_that_pages_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["-m", "p50_time/ns,p99_time/ns", "--print-sorted", GPT2]) == 0
    listed = capsys.readouterr().out
    table = kernel_table(prepare(open_profile(GPT2)))
    shown = shown_names(kernel.name for kernel in table.kernels)
    rows = {line.split(maxsplit=2)[-1]: line.split()[:2] for line in listed.splitlines()[3:-2]}
    assert len(rows) == len(table.kernels)
    known = 0
    for kernel in table.kernels:
        if kernel.p50_ns is not None and kernel.p99_ns is not None and shown[kernel.name] in rows:
            values = [round(each.value) for each in (kernel.p50_ns, kernel.p99_ns)]
            assert rows[shown[kernel.name]] == [str(value) for value in values]
            known += 1
    assert known > 20
    assert listed.endswith(f"{ESTIMATED}\n")


def test_numbered_siblings_are_one_row_on_a_terminal_with_their_spread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = on_terminal(monkeypatch, GPT2)
    assert "271.782 transformer.h.*.mlp (12: 22.608 to 22.695, median 22.645)" in text
    assert "transformer.h.0.mlp" not in text
    assert text.endswith("--fold none shows each\n")
    each = on_terminal(monkeypatch, GPT2, "--fold", "none")
    assert "transformer.h.0.mlp" in each
    assert "*" not in "".join(line for line in each.splitlines() if "transformer" in line)


@pytest.mark.parametrize("arguments", [["-m", "time/ms"], ["-i", ".*h.3.mlp"], ["-e", "x"]])
def test_they_stay_apart_where_metrics_or_names_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    assert "transformer.h.3.mlp" in on_terminal(monkeypatch, GPT2, *arguments)


def test_a_pipe_gets_each_of_them_unless_it_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GPT2]) == 0
    assert "transformer.h.3.mlp" in capsys.readouterr().out
    assert main(["-m", "time/%", "--fold", "numbered", GPT2]) == 0
    assert "14.1 transformer.h.*.mlp (12: 1.2 to 1.2, median 1.2)" in capsys.readouterr().out


def test_what_does_not_fit_of_a_spread_gives_way_to_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = on_terminal(monkeypatch, GPT2, columns=56).splitlines()
    rows = [line for line in lines if "transformer.h.*.mlp (" in line]
    assert rows == ["   |  |- 271.782 transformer.h.*.mlp (12: median 22.645)"]


def test_frames_of_libraries_are_hidden_by_choice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = "18 of 34 contexts are frames of libraries; --hide library leaves them out"
    assert on_terminal(monkeypatch, PYTHON).endswith(hint + "\n")
    hidden = on_terminal(monkeypatch, "--hide", "library", PYTHON)
    assert "site-packages" not in hidden
    assert "      |  |- 5.312 record_with_triton.py:60@step\n      |  |  |- 3.104 matmul" in hidden
    said = "--hide library left out 18 of 34 contexts; what they took stands in those above them"
    assert hidden.endswith(said + "\n")


def test_a_pipe_hides_only_what_it_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PYTHON]) == 0
    text = capsys.readouterr().out
    assert "site-packages" in text
    assert "libraries" not in text
    assert main(["-m", "time/us", "--hide", "library", PYTHON]) == 0
    assert "site-packages" not in capsys.readouterr().out
    assert main(["-m", "time/us", "--hide", "library", "--diff-profile", PYTHON, PYTHON]) == 0
    assert "site-packages" not in capsys.readouterr().out


def test_a_digest_is_of_all_frames(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--hide", "library", PYTHON]) == 2
    assert "leave out --hide" in capsys.readouterr().err


def test_code_has_fifty_of_eighty_columns_with_reasons_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampled = str(DATA / "sampled.hatchet")
    lines = on_terminal(monkeypatch, "--source", "matmul.py", sampled, columns=80).splitlines()
    assert max(map(len, lines)) <= 80
    at = next(at for at, line in enumerate(lines) if "acc = tl.dot" in line)
    assert 80 - lines[at].index("        acc = tl.dot") >= 50
    assert lines[at + 1].strip().startswith("math_pipe_throttle")


def test_tries_of_autotuning_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(monkeypatch, "--autotune", KERNELS)
    assert "ROOT" not in text
    assert "autotune matmul" in text
