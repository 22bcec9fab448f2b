"""The tree check finds each kind of fault in a small tree made for it."""

from pathlib import Path

import pytest

from tools import check_tree


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_file_past_the_limit_is_named_with_its_length(tmp_path: Path) -> None:
    write(tmp_path, "src/proton/long.py", "x = 1\n" * 501)
    assert check_tree.check_sizes(tmp_path) == [
        "src/proton/long.py: 501 lines, at most 500 are allowed; split it"
    ]


def test_a_file_of_exactly_the_limit_passes(tmp_path: Path) -> None:
    write(tmp_path, "src/proton/long.py", "x = 1\n" * 500)
    assert check_tree.check_sizes(tmp_path) == []


def test_a_listed_long_file_may_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_tree, "LONG_FILES", {"src/proton/long.py": 600})
    write(tmp_path, "src/proton/long.py", "x = 1\n" * 601)
    assert "at most 600" in check_tree.check_sizes(tmp_path)[0]


def test_a_listed_file_that_became_short_must_leave_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_tree, "LONG_FILES", {"src/proton/long.py": 600, "src/gone.py": 700})
    write(tmp_path, "src/proton/long.py", "x = 1\n")
    assert check_tree.check_sizes(tmp_path) == [
        "src/proton/long.py: short enough now; take it off LONG_FILES",
        "src/gone.py: on LONG_FILES but not in the tree; take it off",
    ]


def test_a_module_without_docstring_is_named(tmp_path: Path) -> None:
    write(tmp_path, "src/proton/a.py", "x = 1\n")
    write(tmp_path, "src/proton/b.py", '"""Says what it is for."""\n')
    assert check_tree.check_docstrings(tmp_path) == ["src/proton/a.py: no module docstring"]


@pytest.mark.parametrize(
    ("room", "included"),
    [
        ("base", "model/ids.h"),
        ("model", "session/session.h"),
        ("session", "files/tree_writer.h"),
        ("files", "session/session.h"),
        ("backends", "bindings/module.h"),
        ("files", "Python.h"),
        ("session", "nanobind/nanobind.h"),
    ],
)
def test_an_include_against_the_order_is_named(tmp_path: Path, room: str, included: str) -> None:
    write(tmp_path, f"src/native/{room}/x.h", f'/// X.\n#include "{included}"\n')
    (complaint,) = check_tree.check_includes(tmp_path)
    assert complaint.startswith(f"src/native/{room}/x.h: ")
    assert included in complaint


def test_includes_down_the_order_pass(tmp_path: Path) -> None:
    write(tmp_path, "src/native/bindings/x.cpp", '#include <Python.h>\n#include "files/w.h"\n')
    write(tmp_path, "src/native/session/x.cpp", '#include "base/a.h"\n#include "session/s.h"\n')
    assert check_tree.check_includes(tmp_path) == []


def test_sub_rooms_of_a_native_room_include_those_below_them_only(tmp_path: Path) -> None:
    write(tmp_path, "src/native/session/scopes/x.cpp", '#include "session/metrics/a.h"\n')
    write(tmp_path, "src/native/session/booking/y.cpp", '#include "session/samples/b.h"\n')
    write(tmp_path, "src/native/session/snapshot/z.cpp", '#include "session/session.h"\n')
    assert check_tree.check_includes(tmp_path) == [
        "src/native/session/booking/y.cpp: must not include 'session/samples/b.h', "
        "which stands above it",
        "src/native/session/snapshot/z.cpp: must not include 'session/session.h', "
        "which stands above it",
    ]


def test_a_native_header_must_open_with_its_purpose(tmp_path: Path) -> None:
    write(tmp_path, "src/native/base/a.h", "#pragma once\n")
    write(tmp_path, "src/native/base/b.h", "/// What b is for.\n#pragma once\n")
    write(tmp_path, "src/native/base/b.cpp", '#include "base/b.h"\n')
    write(tmp_path, "src/native/base/c.cpp", "#include <string>\n")
    assert check_tree.check_native_headers(tmp_path) == [
        "src/native/base/a.h: does not open with a comment on its purpose",
        "src/native/base/c.cpp: does not open with a comment on its purpose",
    ]


def test_a_machine_path_is_found_with_its_line(tmp_path: Path) -> None:
    path = "/".join(["", "work", "main"])
    write(tmp_path, "docs/start.md", f"fine\nsee {path}\n")
    (complaint,) = check_tree.check_words(tmp_path)
    assert complaint.startswith("docs/start.md:2: ")
    assert complaint.endswith(" is a path of one machine; take it out")


def test_a_count_that_grew_and_one_that_shrank_are_both_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_tree, "RATCHETS", {"grew": 0, "shrank": 2})
    write(tmp_path, "src/proton/a.py", "grew shrank\n")
    assert check_tree.check_ratchets(tmp_path) == [
        "src, tools: 'grew' occurs 1 times, at most 0 may",
        "tools/check_tree.py: lower RATCHETS['shrank'] to 1",
    ]


def test_main_prints_the_complaints_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_tree, "CHECKS", (check_tree.check_docstrings,))
    assert check_tree.main(tmp_path) == 0
    write(tmp_path, "tools/a.py", "x = 1\n")
    assert check_tree.main(tmp_path) == 1
    assert capsys.readouterr().err == "tools/a.py: no module docstring\n"


@pytest.mark.parametrize(
    "line",
    [
        "from proton import _native",
        "    from proton import _core, _native",
        "from proton._native import demangle",
        "import proton._native as core",
        'core = import_module("proton._native")',
    ],
)
def test_only_the_door_and_recording_import_the_core(tmp_path: Path, line: str) -> None:
    for name in ("files/read.py", "_core.py", "runtime/sessions.py", "viewer.py"):
        write(tmp_path, f"src/proton/{name}", f"{line}\n")
    write(tmp_path, "src/proton/other.py", "from proton import _core\nx = self._native\n")
    assert check_tree.check_core_door(tmp_path) == [
        f"src/proton/{name}: imports the native core; use proton._core"
        for name in ("files/read.py", "viewer.py")
    ]
