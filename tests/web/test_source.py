"""The source view: lines with samples as in the terminal, what was inlined, instructions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proton.analysis.source_lines import samples_by_file, samples_of_file
from proton.files.detect import open_profile
from tests.support.browser import Opened
from tests.support.whole_kernel import write_whole_kernel
from tests.web.conftest import DATA

Open = Callable[..., Opened]
HASH = "view=source"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """The recording beside its sources, which a test may change."""
    shutil.copytree(DATA / "sampled", tmp_path / "sampled")
    return Path(shutil.copy(DATA / "sampled.hatchet", tmp_path))


def rows(opened: Opened) -> dict[int, tuple[str, str, str]]:
    """Line -> samples, share and text, of the lines that have samples."""
    found = {}
    for row in opened.page.locator(".listing .src.sampled").all():
        samples, share = row.locator(".count").all_inner_texts() or ("", "")
        line = int(row.get_attribute("data-line") or 0)
        found[line] = (samples, share.replace("\n", ""), row.locator("code").inner_text())
    return found


def plain(text: str) -> str:
    """Digits without what stands between them."""
    return "".join(letter for letter in text if letter in "0123456789.")


@pytest.mark.parametrize("file", ["sampled/matmul.py", "sampled/softmax.py"])
def test_lines_have_the_numbers_of_the_terminal(open_report: Open, file: str) -> None:
    opened = open_report("sampled.hatchet", hash=HASH)
    choose(opened, "file", file)
    profile = open_profile(DATA / "sampled.hatchet")
    whole = samples_of_file(profile, file).count
    wanted = {
        line: (str(one.count), f"{100 * one.count / whole:.1f}")
        for line, one in samples_by_file(profile)[file].items()
    }
    found = {line: (plain(row[0]), plain(row[1])) for line, row in rows(opened).items()}
    assert found == wanted


def choose(opened: Opened, label: str, word: str) -> None:
    """Choose the first option that has `word` in it."""
    options = opened.page.locator(f"select[aria-label={label}] option")
    texts = options.all_inner_texts()
    at = next(at for at, text in enumerate(texts) if word in text)
    opened.page.select_option(
        f"select[aria-label={label}]", str(options.nth(at).get_attribute("value"))
    )


def test_the_file_with_most_samples_is_open_at_its_hottest_line(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=HASH)
    assert "acc = tl.dot(x, y, acc)" in rows(opened)[56][2]
    assert opened.page.locator("[data-line='56']").is_visible()
    opened.page.click("[data-line='56']")
    assert "only line 56 (4)" in opened.page.inner_text(".sass-head")
    assert opened.page.locator(".ins.linked").count() == 4
    opened.page.hover("[data-line='56']")
    card = opened.page.inner_text(".hover")
    assert "math_pipe_throttle" in card
    assert "The arithmetic or tensor unit that the instruction needs is busy." in card
    assert "1\u202f198" in card


def test_a_selected_kernel_is_that_of_the_lines(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    assert "softmax" in opened.page.inner_text("select[aria-label=kernel] option:checked")
    assert plain(rows(opened)[14][0]) == "1045"
    choose(opened, "kernel", "matmul")
    assert opened.texts(".details h2") == ["matmul"]
    assert 56 in rows(opened)
    choose(opened, "kernel", "all kernels")
    assert opened.hash() == "#view=source"


def test_what_was_inlined_is_folded_below_the_line(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    assert opened.page.locator(".src.inlined").count() == 0
    opened.page.click("[data-line='14'] .fold")
    texts = [" ".join(text.split()) for text in opened.texts(".src.inlined")]
    assert [text.split("↳ ")[1] for text in texts] == [
        "standard.py max",
        "standard.py _elementwise_max",
    ]
    assert plain(opened.texts(".src.inlined .count")[0]) == "1045"
    opened.page.click("[data-line='14'] .fold")
    assert opened.page.locator(".src.inlined").count() == 0


def test_a_line_marks_its_instructions_and_an_instruction_its_line(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    opened.page.keyboard.press("i")
    assert opened.page.locator(".ins").count() == 10
    opened.page.click("[data-line='14']")
    assert opened.page.locator(".ins").count() == 10
    assert opened.texts(".ins.linked .offset") == ["310", "380", "400", "450", "500"]
    opened.page.click("text=only line 14")
    assert opened.texts(".ins .offset") == ["310", "380", "400", "450", "500"]
    opened.page.click("text=only line 14")
    opened.page.click(".ins >> nth=0")
    assert opened.page.get_attribute("[data-line='13']", "aria-selected") == "true"
    opened.page.keyboard.press("i")
    assert opened.page.locator(".sass").count() == 0


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A recording with all instructions of a kernel."""
    write_whole_kernel(tmp_path / "whole.hatchet")
    return tmp_path / "whole.hatchet"


def test_every_instruction_of_a_kernel_stands_beside_its_source(
    tmp_path: Path, open_report: Open
) -> None:
    offsets = write_whole_kernel(tmp_path / "whole.hatchet", copies=40)
    opened = open_report(tmp_path / "whole.hatchet", hash=f"{HASH}&zoom.source=..1")
    table = opened.page.get_by_role("table", name="instructions")
    assert table.get_attribute("aria-rowcount") == str(len(offsets))
    assert "5\u202f760 instructions" in opened.page.inner_text(".sass-head")
    assert opened.page.inner_text(".sass-foot") == ""
    shown = opened.texts(".ins .offset")
    assert "310" in shown, "the hottest one"
    assert len(shown) < 100, "rows that are not in view are not drawn"
    table.evaluate("box => box.scrollTop = box.scrollHeight")
    opened.page.wait_for_selector(f"[data-offset='{offsets[-1]:x}']")
    opened.page.keyboard.press("i")
    opened.page.keyboard.press("i")
    assert "310" in opened.texts(".ins .offset")


def test_pointing_marks_the_other_side(whole: Path, open_report: Open) -> None:
    opened = open_report(whole, hash=f"{HASH}&zoom.source=..1")
    opened.page.hover("[data-line='22']")
    assert set(opened.texts(".ins.pointed .number")) == {"22"}
    opened.page.hover("[data-offset='310']")
    assert opened.texts(".src.pointed .number") == ["21"]
    assert opened.page.inner_text(".sass-chain").split() == [
        "standard.py:191", "<inlined>", "\u2039", "kernels.py:21", "softmax",
    ]  # fmt: skip
    opened.page.hover(".src.head")
    opened.page.mouse.move(5, 5)
    assert opened.page.locator(".pointed").count() == 0


def test_an_instruction_shows_what_it_was_inlined_from_and_into(
    whole: Path, open_report: Open, picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report(whole, hash=f"{HASH}&zoom.source=..1", size=(1280, 560))
    opened.page.click("[data-offset='310']")
    assert opened.page.get_attribute("[data-offset='310']", "aria-selected") == "true"
    assert opened.page.get_attribute("[data-line='21']", "aria-selected") == "true"
    assert "standard.py" in opened.page.inner_text(".src.inlined.linked")
    opened.page.mouse.move(5, 5)
    picture(opened, "source")
    words = opened.hash().removeprefix("#")
    assert words.endswith("zoom.source=0.21.1.0-0-310")
    again = open_report(whole, hash=words)
    assert again.page.get_attribute("[data-offset='310']", "aria-selected") == "true"
    again.page.click(".sass-chain .link >> nth=0")
    again.page.wait_for_selector("[data-line='191'][aria-selected=true]")
    assert "standard.py" in again.page.inner_text(".src.head")
    assert again.page.get_attribute("[data-offset='310']", "aria-selected") == "true"


def test_keys_go_from_one_instruction_to_the_next(whole: Path, open_report: Open) -> None:
    opened = open_report(whole, hash=HASH)
    chosen = ".ins[aria-selected=true]"
    for key, offset in (("n", "310"), ("n", "320"), ("p", "310"), ("p", "300")):
        opened.page.keyboard.press(key)
        opened.page.wait_for_selector(f"{chosen}[data-offset='{offset}']")
    opened.page.keyboard.press("j")
    opened.page.wait_for_selector("[data-line='22'][aria-selected=true]")
    assert opened.page.locator(chosen).count() == 0
    opened.page.keyboard.press("n")
    assert opened.page.get_attribute(chosen, "data-offset") == "400"


def test_how_many_instructions_the_file_has_is_said(tmp_path: Path, open_report: Open) -> None:
    write_whole_kernel(tmp_path / "part.hatchet")
    document = json.loads((tmp_path / "part.hatchet").read_text())
    kernel = document[0]["proton"]["sampling"]["kernels"][0]
    kernel["instructions"] = [row for row in kernel["instructions"] if row[3]]
    (tmp_path / "part.hatchet").write_text(json.dumps(document))
    opened = open_report(tmp_path / "part.hatchet", hash=f"{HASH}&zoom.source=..1")
    assert opened.page.inner_text(".sass-foot").startswith(
        "the file has 5 of 144 instructions, the hottest: it keeps all of the kernels with most"
    )


def test_a_reason_can_be_looked_at_alone(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    opened.page.click(".reason-legend button >> text=barrier")
    texts = [plain(row[0]) for row in rows(opened).values() if row[0]]
    assert texts == ["203"]
    opened.page.click(".reason-legend button >> text=barrier")
    assert plain(rows(opened)[14][0]) == "1045"


def test_a_line_that_is_let_go_of_stays_where_it_is(open_report: Open) -> None:
    """The view once went back to the hottest line."""
    opened = open_report("sampled.hatchet", hash=HASH, size=(900, 600))
    opened.page.evaluate("document.querySelector('.listing').scrollTop = 0")
    opened.page.click("[data-line='3']")
    opened.page.click("[data-line='3']")
    assert opened.page.evaluate("document.querySelector('.listing').scrollTop") == 0


def test_keys_go_from_one_line_with_samples_to_the_next(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    for key, line in (("j", 13), ("j", 14), ("k", 13)):
        opened.page.keyboard.press(key)
        assert opened.page.get_attribute(f"[data-line='{line}']", "aria-selected") == "true"


def test_a_changed_file_and_a_gone_one_are_said(recording: Path, open_report: Open) -> None:
    (recording.parent / "sampled/matmul.py").write_text("something else\n")
    opened = open_report(recording, hash=HASH)
    assert "changed since the recording" in opened.page.inner_text(".beware")
    assert plain(rows(opened)[56][0]) == "2342"
    choose(opened, "file", "removed.py")
    assert "no such file; line numbers without text" in opened.page.inner_text(".beware")
    assert rows(opened)[7][2].strip() == "no text"


def test_a_kernel_without_lines_says_why(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:_Z4fillPfi")
    assert "no cubin" in opened.page.inner_text("#view")
    assert "22 samples without a known source line" in opened.page.inner_text("#view")
    assert "drain" in opened.page.inner_text(".reason-legend")


def test_kernels_without_lines_are_listed_and_a_click_chooses_one(open_report: Open) -> None:
    opened = open_report("triton36_samples.hatchet", hash=HASH)
    names = opened.texts(".sampled-kernels .kernel-name")
    assert names[0] == "matmul_512x512x512"
    counts = [int(plain(text)) for text in opened.texts(".sampled-kernels .count:first-child")]
    assert counts == sorted(counts, reverse=True)
    opened.page.hover(".sampled-kernels button >> nth=0")
    assert opened.page.locator(".hover").count() == 1
    opened.page.click(".sampled-kernels button >> nth=0")
    assert opened.texts(".details h2") == ["matmul_512x512x512"]
    assert opened.page.locator(".hover").count() == 0  # it once stayed when its row was gone


def test_a_line_of_the_tree_opens_its_file(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=HASH)
    document = json.loads((DATA / "sampled.hatchet").read_text())[0]
    row = row_of(document, "sampled/softmax.py:15@softmax")
    opened.page.goto(opened.page.url.split("#")[0] + f"#{HASH}&sel=node:{row}")
    opened.page.wait_for_selector("[data-line='15'][aria-selected=true]")
    assert 15 in rows(opened)


def row_of(root: dict[str, object], name: str) -> int:
    """The place of the first node of this name, parents first."""
    pending, at = [root], 0
    while pending:
        node = pending.pop()
        frame, children = node["frame"], node["children"]
        assert isinstance(frame, dict)
        assert isinstance(children, list)
        if frame["name"] == name:
            return at
        at += 1
        pending += reversed(children)
    raise AssertionError(name)


def test_an_address_that_was_shared_shows_the_same(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&sel=kernel:softmax")
    opened.page.click("[data-line='16']")
    words = opened.hash().removeprefix("#")
    again = open_report("sampled.hatchet", hash=words)
    assert again.page.get_attribute("[data-line='16']", "aria-selected") == "true"
    assert again.page.locator(".sass").count() == 1


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_nothing_is_cut_at_any_size(open_report: Open, size: tuple[int, int]) -> None:
    opened = open_report("sampled.hatchet", hash=f"{HASH}&zoom.source=..1", size=size, dark=True)
    assert not opened.is_cut()
    for part in (".listing", ".sass"):
        box = opened.page.locator(part).bounding_box()
        assert box is not None
        assert box["height"] > 90
        assert box["x"] + box["width"] <= size[0]


@pytest.mark.parametrize("name", ["sampled.hatchet", "triton36_samples.hatchet"])
def test_the_whole_bar_is_named_in_the_legend(name: str, open_report: Open) -> None:
    opened = open_report(name, hash=HASH)
    legend = opened.page.locator(".why .reason-legend")
    pieces = opened.page.locator(".why .reason-pieces span").count()
    assert legend.locator(".swatch").count() == pieces
    if legend.locator("button.link").count():
        legend.locator("button.link").click()
        assert legend.locator(".swatch").count() > pieces
    shares = [float(share.rstrip("\u00a0%").lstrip("<")) for share in opened.texts(".why .quiet")]
    assert sum(shares) == pytest.approx(100, abs=1.5)


def test_nothing_is_promised_that_was_not_recorded(open_report: Open) -> None:
    opened = open_report("triton36_samples.hatchet", hash=HASH)
    said = opened.page.inner_text(".source-view")
    assert "choose a kernel for its instructions" not in said
    assert "no instructions" in said
    opened.page.click(".sampled-kernels button >> nth=0")
    said = opened.page.inner_text(".source-view")
    assert "The file has no instructions of this kernel" in said
    assert "record with proton -m pcsampling" in said
    opened.page.click("button:text-is('all kernels')")
    assert opened.page.locator(".sampled-kernels").count() == 1


def test_the_pane_promises_no_instructions_that_there_are_not(open_report: Open) -> None:
    """It once said "lines and instructions" of every kernel."""
    opened = open_report(
        "triton36_samples.hatchet", hash="view=kernels&sel=kernel:matmul_512x512x512"
    )
    assert "lines and instructions" not in opened.page.inner_text(".details")
    opened.page.click(".details button:text-is('what it waited for')")
    opened.page.wait_for_selector(".source-view .why")


def test_kernels_that_have_instructions_are_told_from_others(
    tmp_path: Path, open_report: Open
) -> None:
    document = json.loads((DATA / "sampled.hatchet").read_text())
    kernels = document[0]["proton"]["sampling"]["kernels"]
    document[0]["proton"]["sampling"]["kernels"] = kernels[2:]
    document[0]["children"] = document[0]["children"][1:]  # that with lines
    document[0]["children"][0]["children"] = document[0]["children"][0]["children"][1:]
    document[0]["proton"]["kinds"] = "rskk"
    kernels[3]["instructions"] = []
    (tmp_path / "two.hatchet").write_text(json.dumps(document))
    opened = open_report(tmp_path / "two.hatchet", hash=HASH)
    assert "the file has instructions of 1 of 2" in opened.page.inner_text(".source-view")
    with_, without = opened.texts(".sampled-kernels .kernel-name")
    assert "no instructions" not in with_
    assert without.endswith("no cubin, no instructions")


def test_the_pane_of_a_sampled_kernel_has_its_reasons_once(open_report: Open) -> None:
    opened = open_report("sampled.hatchet", hash=HASH)
    opened.page.select_option("select[aria-label=kernel]", index=1)
    opened.page.wait_for_selector(".details h2")
    names = opened.texts(".details dt")
    assert len(names) == len(set(names))
