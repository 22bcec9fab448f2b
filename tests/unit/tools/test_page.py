"""The page's build: only what is stale, a warning where it may be missing, a failure elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools import page

Calls = list[tuple[str, ...]]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """A small web folder, a Node that is new enough, and an npm that notes what it is told."""
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    for source in page.sources(web):
        source.write_text("")
    (web / "src" / "main.tsx").write_text("")
    (web / "node_modules").mkdir()
    told: Calls = []

    def npm(title: str, *words: str) -> int:
        told.append(words)
        if words[-1] == "build":
            page.PAGE.write_text("built")
        return 0

    monkeypatch.setattr(page, "WEB", web)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.html")
    monkeypatch.setattr(page, "npm", npm)
    monkeypatch.setattr(page, "missing", lambda: "")
    monkeypatch.delenv("PROTON_REQUIRE_WEB", raising=False)
    return told


def test_the_page_is_built_once_and_again_when_a_source_is_newer(calls: Calls) -> None:
    assert page.main([]) == 0
    assert [words[-1] for words in calls] == [page.INSTALL[-1], "build"]
    assert page.main([]) == 0
    assert len(calls) == 2
    later = page.PAGE.stat().st_mtime + 5
    os.utime(page.WEB / "src" / "main.tsx", (later, later))
    assert page.main([]) == 0
    assert [words[-1] for words in calls[2:]] == ["build"]


def test_a_test_that_is_newer_is_no_reason_to_build(calls: Calls) -> None:
    assert page.main([]) == 0
    later = page.PAGE.stat().st_mtime + 5
    test = page.WEB / "src" / "read.test.ts"
    test.write_text("")
    os.utime(test, (later, later))
    assert page.main([]) == 0
    assert len(calls) == 2


def test_checking_comes_before_building(calls: Calls) -> None:
    assert page.main(["--check"]) == 0
    assert [words[-1] for words in calls[1:]] == ["types", "test", "build"]


@pytest.mark.parametrize(
    ("words", "required", "status"),
    [([], "", 1), (["--optional"], "", 0), (["--check"], "", 0), (["--check"], "1", 1)],
)
def test_without_node_it_is_a_warning_only_where_the_page_may_be_missing(
    words: list[str],
    required: str,
    status: int,
    calls: Calls,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(page, "missing", lambda: "Node and npm are not installed")
    monkeypatch.setenv("PROTON_REQUIRE_WEB", required)
    assert page.main(words) == status
    said = capsys.readouterr()
    assert "Node and npm are not installed" in said.out + said.err
    assert calls == []


def test_packages_that_cannot_be_installed_stop_no_demo(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "npm", lambda title, *words: 1)
    assert page.main(["--optional"]) == 0
    assert "THE PAGE IS NOT BUILT" in capsys.readouterr().out
    assert page.main([]) == 1


@pytest.mark.parametrize(
    ("version", "why"),
    [("v20.19.0", ""), ("v22.1.0", ""), ("v18.20.4", "too old"), ("", "unknown version")],
)
def test_the_version_of_node_is_looked_at(
    version: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("node", f"echo {version}"), ("npm", "true")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = page.missing()
    assert why in found
    assert bool(found) is bool(why)
