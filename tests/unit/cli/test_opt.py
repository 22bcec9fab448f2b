import io
import subprocess
import sys
from pathlib import Path

import pytest

from proton.cli.opt import main
from proton.inkernel import passes
from proton.inkernel.passes import PASSES

TEXT = "module {\n  tt.func public @k() {\n    tt.load %x\n    tt.return\n  }\n}\n"


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "kernel.ttgir"
    path.write_text(TEXT)
    return str(path)


def test_the_result_is_printed(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([kernel, "--pass=record-around-ops,prepare"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("proton.") == 4
    assert printed.out.endswith("}\n")
    assert printed.err == ""


def test_a_file_is_left_as_it_is_where_nothing_is_recorded(
    kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([kernel, "--pass=prepare"]) == 0
    assert capsys.readouterr().out == TEXT


def test_what_a_pass_left_can_be_printed(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([kernel, "--mode=ops", "--print-after=record-around-ops"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("// after record-around-ops\nmodule {")
    assert "proton.init" not in printed.err
    assert main([kernel, "--mode=ops", "--print-after=all"]) == 0
    assert capsys.readouterr().err.count("// after ") == 2


def test_the_result_can_go_to_a_file_and_come_from_standard_input(
    kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(TEXT))
    assert main(["-", "--mode=cta", "-o", str(tmp_path / "new.ttgir")]) == 0
    assert "proton.init kind=cta" in (tmp_path / "new.ttgir").read_text()


def test_a_file_that_is_no_ir_is_replaced_by_force_alone(kernel: str, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("my thesis")
    assert main([kernel, "--pass=prepare", "-o", str(other)]) == 2
    assert other.read_text() == "my thesis"
    for words in (["--force"], []):
        assert main([kernel, "--pass=prepare", "-o", str(other), *words]) == 0
        assert other.read_text() == TEXT


def test_every_pass_is_listed_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{name} (" in "\n" + listed for name in PASSES)
    assert "    cap=64\n    whole=true\n" in listed


def test_a_pass_of_ones_own_can_be_loaded(
    kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_REGISTERED", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Mine:\n"
        '    """Says hello."""\n'
        "    def apply(self, module):\n"
        '        list(module.walk())[-1].insert_before("// hello")\n'
        'Mine.name, Mine.level = "mine", "ttgir"\n'
    )
    assert main([f"--load={mine}", "--list"]) == 0
    assert "\nmine (ttgir): Says hello.\n" in capsys.readouterr().out
    assert main([kernel, f"--load={mine}", "--pass=mine,prepare"]) == 0
    assert "// hello\n    tt.return" in capsys.readouterr().out
    assert main([kernel, "--load=no_such_module", "--pass=prepare"]) == 2
    assert "proton-opt: no_such_module: cannot be imported" in capsys.readouterr().err


def test_functions_that_records_skip_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kernel.ttgir"
    called = "  tt.func private @m.apart__P() {\n    tt.return\n  }\n}\n"
    path.write_text(TEXT.replace("    tt.load %x\n", "    tt.call @m.apart__P()\n")[:-2] + called)
    assert main([str(path), "--mode=ops"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"proton-opt: {path}: not recorded inside 'm.apart': compiled apart")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        ([], 2, "no file to work on"),
        (["FILE"], 2, "no pass to run; give --pass or --mode"),
        (["FILE", "--pass=prep"], 2, "unknown pass 'prep'; choose one of "),
        (["FILE", "--mode=x"], 2, "unknown mode 'x'; choose one of"),
        (["FILE", "--mode=ops", "--pass=prepare"], 2, "exclude each other"),
        (["FILE", "--pass=prepare", "--print-after=x"], 2, "unknown pass to print after 'x'"),
        (["FILE", "--what"], 2, "unknown option '--what'; see: proton-opt --help"),
        (["/no/such", "--pass=prepare"], 1, "/no/such: no such file or directory"),
        (
            ["FILE", "--pass=prepare", "-o", "/no/such/x"],
            1,
            "/no/such/x: cannot be written: there is no",
        ),
    ],
)
def test_a_wrong_call_gets_one_line(
    words: list[str], code: int, problem: str, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([kernel if word == "FILE" else word for word in words]) == code
    error = capsys.readouterr().err
    assert error.startswith("proton-opt: ")
    assert problem in error
    assert error.count("\n") == 1


def test_a_file_that_is_no_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    assert main([str(tmp_path / "x"), "--pass=prepare"]) == 1
    assert "is not text; give TTIR, TTGIR or LLVM IR" in capsys.readouterr().err


def test_records_of_a_file_that_do_not_nest_are_the_files_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.ttgir"
    file.write_text(
        'module {\n  tt.func public @k() {\n    proton.record start "a"\n    tt.return\n  }\n}\n'
    )
    assert main([str(file), "--pass=record-user-scopes"]) == 1
    assert capsys.readouterr().err.startswith("proton-opt: ")


def test_it_works_without_triton(kernel: str) -> None:
    code = (
        "import sys; sys.modules['triton'] = None; sys.modules['torch'] = None\n"
        "from proton.cli.opt import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, kernel, "--mode=ops+loops+default"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "proton.record start load" in done.stdout
