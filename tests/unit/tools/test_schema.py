"""Types and tables that are made from dataclasses, and that those in git are not stale."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest

from proton.model.schema import Stored
from tools import schema


class Pair(NamedTuple):
    """Two things."""

    left: int
    right: str


class Letter(Enum):
    """A letter."""

    A = "a"
    B = "b"


@dataclass(frozen=True)
class Part:
    """A part of the page.

    More about it.
    """

    name: Annotated[str, Stored("what it is called")]
    rows: Sequence[int | None] = ()


@dataclass(frozen=True)
class Whole:
    """All."""

    pairs: Sequence[Pair]
    letter: Letter


def test_what_is_in_git_is_not_stale() -> None:
    assert schema.main(["--check"]) == 0


def test_a_stale_file_is_named_and_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schema, "ROOT", tmp_path)
    monkeypatch.setattr(schema, "TYPES", tmp_path / "schema.ts")
    assert schema.main(["--check"]) == 1
    assert "schema.ts: stale; run python -m tools.schema" in capsys.readouterr().err
    assert not (tmp_path / "schema.ts").exists()


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        (float, "number"),
        (str | None, "string | null"),
        (int | float | str, "number | string"),
        (Sequence[float | None], "(number | null)[]"),
        (tuple[str, ...], "string[]"),
        (tuple[int, str], "[number, string]"),
        (Pair, "Pair"),
        (Letter, "Letter"),
        (Mapping[str, Part], "Record<string, Part>"),
        (Literal["tree", "trace"], '"tree" | "trace"'),
        (object, "unknown"),
    ],
)
def test_types_have_their_name_in_typescript(kind: Any, script: str) -> None:
    assert schema.script_type(kind) == script


def test_named_tuples_and_enumerations_are_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "load", lambda _: Whole)
    text = schema.typescript(["tests:Whole"])
    assert "/** Two things. */\nexport type Pair = [left: number, right: string]\n" in text
    assert '/** A letter. */\nexport type Letter = "a" | "b"\n' in text
    assert "  pairs: Pair[]\n  letter: Letter\n" in text


def test_a_dataclass_is_an_interface_and_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "load", lambda _: Part)
    assert schema.typescript(["tests:Part"]).endswith(
        "/** A part of the page. */\nexport interface Part {\n"
        "  /** what it is called */\n  name: string\n  rows: (number | null)[]\n}\n"
    )
    assert schema.table(Part) == (
        "| key | type | value |\n|---|---|---|\n| `name` | text | what it is called |\n"
    )


def test_the_example_of_an_added_field_fits_the_code() -> None:
    text = (schema.ROOT / "CONTRIBUTING.md").read_text()
    (diff,) = re.findall(r"```diff\n(--- src/proton/model/in_kernel\.py.*?)```", text, re.DOTALL)
    code = ""
    for line in diff.splitlines():
        if line.startswith("--- "):
            code = (schema.ROOT / line[4:]).read_text()
        elif line.startswith("@@ "):
            assert line[3:] in code
        elif line.startswith(" "):
            assert f"{line[1:]}\n" in code
    assert len(re.findall("^--- ", diff, re.MULTILINE)) <= 3
