"""Names from profiles are data: whatever stands in them, no view runs it, and none breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Opened
from tests.support.hostile import CANARY, LONG, NAMES, hostile
from tests.web.conftest import DATA

Open = Callable[..., Opened]

# Between them they have every part of a page.
RECORDINGS = (
    "gpt.hatchet",
    "values.hatchet",
    "sampled.hatchet",
    "in_kernel.hatchet",
    "activity.chrome_trace",
    "in_kernel.chrome_trace",
)
# Elements that a page of ours never has, and handlers that nobody set from markup.
FOREIGN = """() => [...document.querySelectorAll("*")].filter((each) =>
    each.matches("img, iframe, object, embed, base, form, a[href^='javascript' i], svg[onload]")
    || each.getAttributeNames().some((name) => name.startsWith("on")))
    .map((each) => each.outerHTML)"""
# What turns the direction of text around it.
BIDI = "() => /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"


def check(opened: Opened) -> None:
    page = opened.page
    assert page.evaluate(f"window.{CANARY}") is None
    assert page.evaluate(FOREIGN) == []
    assert page.locator("script").count() == 1
    assert not page.evaluate(BIDI)
    assert opened.texts("#view .problem") == []
    assert not opened.is_cut()


def walk(opened: Opened) -> None:
    """Go through every view: look, click, point, search."""
    page = opened.page
    dialogs: list[str] = []

    def dismiss(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    tabs = page.locator("[role=tab]")
    for at in range(tabs.count()):
        tabs.nth(at).click()
        check(opened)
        view = page.locator("#view")
        rows = view.locator("tbody tr, .bar")
        if rows.count():
            rows.first.click()
        for canvas in view.locator("canvas").all()[:2]:
            box = canvas.bounding_box()
            if box is not None and box["height"] > 4:
                canvas.hover(position={"x": box["width"] / 3, "y": min(box["height"] / 2, 30)})
                canvas.click(position={"x": box["width"] / 3, "y": min(box["height"] / 2, 30)})
        check(opened)
    page.fill("#search", NAMES[0])
    check(opened)
    page.remove_listener("dialog", dismiss)
    assert dialogs == []


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_view_runs_or_breaks_on_what_stands_in_names(
    name: str, tmp_path: Path, open_report: Open
) -> None:
    path = tmp_path / name
    path.write_bytes(hostile((DATA / name).read_bytes()))
    walk(open_report(path))


def test_a_comparison_shows_names_as_text_too(tmp_path: Path, open_report: Open) -> None:
    content = hostile((DATA / "gpt.hatchet").read_bytes())
    first, second = tmp_path / "a.hatchet", tmp_path / "b.hatchet"
    first.write_bytes(content)
    second.write_bytes(content.replace(b"adamw", b"</script>adamw"))
    walk(open_report(first, second))


def test_ranks_show_names_as_text_too(tmp_path: Path, open_report: Open) -> None:
    from proton.cli import main

    for rank in range(3):
        tree, devices = json.loads(hostile((DATA / "gpt.hatchet").read_bytes()))
        tree["proton"] |= {"rank": rank, "host": NAMES[rank]}
        (tmp_path / f"{rank}.hatchet").write_text(json.dumps([tree, devices]))
    merged = tmp_path / "all.hatchet"
    assert (
        main(["merge", *(f"{tmp_path}/{rank}.hatchet" for rank in range(3)), "-o", f"{merged}"])
        == 0
    )
    opened = open_report(merged)
    assert "Ranks" in opened.texts("[role=tab]:not(.without)")
    walk(opened)


def test_names_are_shown_as_they_are(tmp_path: Path, open_report: Open) -> None:
    path = tmp_path / "gpt.hatchet"
    path.write_bytes((DATA / "gpt.hatchet").read_bytes().replace(b"flash_fwd", b"<b>flash</b>"))
    opened = open_report(path)
    assert "<b>flash</b>" in opened.texts("table.kernels tbody td.name")
    opened.page.click("text=<b>flash</b>")
    assert opened.texts(".details h2") == ["<b>flash</b>"]


def test_a_file_may_have_any_name(tmp_path: Path, open_report: Open) -> None:
    path = tmp_path / f"<img src=x onerror=window.{CANARY}=1>.hatchet"
    path.write_bytes((DATA / "gpt.hatchet").read_bytes())
    opened = open_report(path)
    assert opened.texts("header .source")[0].startswith("<img src=x onerror=")
    title = opened.page.get_attribute("header .source", "title")
    assert title is not None
    assert title.endswith(path.name)
    check(opened)


@pytest.mark.parametrize("name", [*NAMES[:8], LONG[:1000]], ids=range(9))
def test_an_address_cannot_bring_anything_in(name: str, open_report: Open) -> None:
    words = "&".join(f"{key}={name}" for key in ("view", "metric", "search", "theme", "zoom.x"))
    opened = open_report("gpt.hatchet", hash=f"{words}&sel=kernel:{name}&profile={name}")
    check(opened)


def test_the_page_forbids_what_it_does_not_do(open_report: Open) -> None:
    """Should a hole open one day, the policy still stands before it."""
    opened = open_report("gpt.hatchet")
    tried = opened.page.evaluate(
        f"""async () => {{
            const failed = []
            const place = document.body.appendChild(document.createElement("div"))
            place.innerHTML = "<img src='x:' onerror='window.{CANARY}=1'>"
            const script = document.createElement("script")
            script.textContent = "window.{CANARY}=1"
            document.body.append(script)
            await new Promise((resolve) => setTimeout(resolve, 100))
            try {{ eval("1") }} catch {{ failed.push("eval") }}
            try {{ await fetch("http://127.0.0.1:9/") }} catch {{ failed.push("fetch") }}
            place.remove()
            return [window.{CANARY} ?? null, failed]
        }}"""
    )
    assert tried == [None, ["eval", "fetch"]]
    refused = [text for text in opened.problems if "Content Security Policy" in text]
    assert len(refused) >= 3
    opened.problems.clear()
