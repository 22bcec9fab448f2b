"""The checks of the page's sources find each kind of fault in a small tree made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_web


def write(root: Path, name: str, text: str = "/** What it is for. */\n") -> None:
    path = root / "web" / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "imported", "is_fine"),
    [
        ("views/flame/flame.tsx", "../../layout/flame/boxes", True),
        ("views/flame/flame.tsx", "./card", True),
        ("views/flame/flame.tsx", "../widgets/number", True),
        ("views/flame/flame.tsx", "../diff/cells", False),
        ("views/inkernel/regions.tsx", "../source/source_state", True),
        ("views/source/source.tsx", "../inkernel/regions", False),
        ("views/shell/registry.ts", "../flame/flame", True),
        ("views/widgets/table.tsx", "../shell/header", False),
        ("layout/flame/boxes.ts", "../axis", True),
        ("layout/flame/boxes.ts", "../timeline/rows", False),
        ("layout/axis.ts", "../model", True),
        ("layout/axis.ts", "../views/flame/flame", False),
        ("draw/flame.ts", "../state", False),
        ("unpack.ts", "./model", False),
        ("model.ts", "./unpack", True),
        ("views/flame/b.tsx", "../../main", False),
        ("main.tsx", "./style.css", True),
    ],
)
def test_imports_go_one_way(name: str, imported: str, is_fine: bool, tmp_path: Path) -> None:
    write(tmp_path, name, f'/** x */\nimport {{ x }} from "{imported}"\n')
    complaints = check_web.check_web_layers(tmp_path)
    assert complaints == [] if is_fine else imported in complaints[0]


def test_a_file_outside_of_the_layers_is_named(tmp_path: Path) -> None:
    write(tmp_path, "helpers.ts")
    assert check_web.check_web_layers(tmp_path) == [
        "web/src/helpers.ts: 'helpers' is no layer of tools/check_web.py"
    ]


@pytest.mark.parametrize(
    "line",
    ["node.innerHTML = name", "<p dangerouslySetInnerHTML={x} />", "<a href={x}>", "eval(x)"],
)
def test_markup_from_text_is_forbidden_but_in_tests(line: str, tmp_path: Path) -> None:
    write(tmp_path, "views/a.tsx", f"/** x */\n{line}\n")
    write(tmp_path, "views/a.test.tsx", f"{line}\n")
    (complaint,) = check_web.check_web_markup(tmp_path)
    assert complaint.startswith("web/src/views/a.tsx:2: ")


def test_a_link_into_a_folder_of_the_server_is_allowed(tmp_path: Path) -> None:
    write(tmp_path, "views/a.tsx", "/** x */\n<a href={`view/${x}/`}>\n")
    assert check_web.check_web_markup(tmp_path) == []


def test_a_file_that_does_not_say_its_purpose_is_named(tmp_path: Path) -> None:
    write(tmp_path, "views/a.tsx", "export const x = 1\n")
    write(tmp_path, "views/b.tsx")
    assert check_web.check_web_headers(tmp_path) == [
        "web/src/views/a.tsx: does not open with a comment on its purpose"
    ]


def test_a_tree_without_a_page_has_nothing_to_complain_about(tmp_path: Path) -> None:
    assert [complaint for check in check_web.WEB_CHECKS for complaint in check(tmp_path)] == []
