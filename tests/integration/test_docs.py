"""The documentation is true: snippets run, links lead somewhere, flags and targets exist."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"(<!-- not run:[^\n]*-->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#([\w-]+))?\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """The page's code blocks in this language, but those marked as not run."""
    found = BLOCK.findall(page.read_text())
    return [text for skipped, kind, text in found if kind == language and not skipped]


SNIPPETS = {name_of(page): page for page in PAGES if blocks(page, "python")}


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_python_of_a_page_runs_from_top_to_bottom(name: str, tmp_path: Path) -> None:
    program = "\n".join(blocks(SNIPPETS[name], "python"))
    for module in ("triton", "torch"):
        if re.search(rf"^import {module}\b", program, re.MULTILINE) and find_spec(module) is None:
            pytest.skip(f"needs {module}")
    script = tmp_path / "page.py"
    script.write_text(program)
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(CODE.sub("", page.read_text())):
        linked = (page.parent / target).resolve()
        if not linked.exists():
            broken.append(target)
        elif anchor and anchor not in anchors(linked):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_files_named_in_the_text_exist() -> None:
    pages = [*PAGES, ROOT / "web" / "README.md"]
    for folder in ("src", "tests"):
        pages += sorted((ROOT / folder).rglob("README.md"))
    names = {f"/{path}" for path in tree_files()}
    name = re.compile(
        r"`((?:src|tests|docs|web|tools)/[\w./-]+|[\w./-]+\.(?:py|h|cpp|c|tsx?|ll|\*))`"
    )
    # Not ours, made by a reader, to be made, or built.
    others = re.compile(r"^Python\.h$|^first\.py$|NAME|ROOM|rocprofiler|_rocm|/assets/")
    broken = [
        f"{name_of(page)}: {text}"
        for page in pages
        for text in sorted(set(name.findall(page.read_text())))
        if not others.search(text) and not is_named(text.rstrip("/"), names)
    ]
    assert broken == []


def tree_files() -> list[str]:
    """The files of the tree, without what was built in it."""
    folders = ("src", "tests", "docs", "web", "tools", "benchmarks", "examples")
    return [
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if "node_modules" not in path.parts
    ]


def is_named(text: str, names: set[str]) -> bool:
    """Whether `text` is the end of a path; `hub.*` stands for sources and header."""
    endings = [text] if not text.endswith(".*") else [f"{text[:-1]}{kind}" for kind in ("h", "cpp")]
    return any(name.endswith(f"/{ending}") for ending in endings for name in names)


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    docs = ROOT / "docs"
    pages = [page.relative_to(docs).as_posix() for page in PAGES if page.is_relative_to(docs)]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


def test_every_picture_is_shown_and_small() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())
    }
    pictures = set((ROOT / "docs" / "images").glob("*"))
    assert pictures == shown
    assert [picture.name for picture in pictures if picture.stat().st_size > 150_000] == []


def test_make_targets_in_the_text_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:`|\$ )make ([a-z-]+)", page.read_text())
    }
    assert named - targets == set()


@pytest.mark.parametrize(
    ("heading", "module"), [("proton", "proton"), ("proton-viewer", "proton.viewer")]
)
def test_the_reference_lists_exactly_the_flags_of_a_command(heading: str, module: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
    ).stdout
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    flags = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
    assert set(flags.findall(section)) == set(flags.findall(shown.partition("examples:")[0]))


def test_the_reference_lists_every_variable_that_sessions_read() -> None:
    source = (ROOT / "src" / "proton" / "runtime" / "environment.py").read_text()
    read = set(re.findall(r'"((?:TRITON|PROTON|CUDA)_[A-Z_]+)"', source))
    for path in (ROOT / "src" / "proton").rglob("*.py"):
        read |= set(re.findall(r'"(PROTON_[A-Z_]+)"', path.read_text()))
    read.remove("PROTON_FOLLOW_CHILDREN")  # from us to our children
    page = (ROOT / "docs" / "reference" / "cli.md").read_text().partition("\n## Environment\n")[2]
    assert len(read) > 10
    assert read - set(re.findall(r"`([A-Z_]+)(?:=\d)?`", page)) == set()


def test_the_reference_lists_every_kind_of_loss() -> None:
    native = ROOT / "src" / "native"
    words = re.findall(r' = "([a-z_]+)"', (native / "model" / "losses.h").read_text())
    words += re.findall(r'kClippedSpan = "([a-z_]+)"', (native / "files" / "format.h").read_text())
    for path in (ROOT / "src" / "proton").rglob("*.py"):
        words += re.findall(r'_(?:count|loss)\(\s*"([a-z_]+)"', path.read_text())
    page = (ROOT / "docs" / "reference" / "file-format.md").read_text()
    table = page.partition("\n### Losses\n")[2].partition("\n### ")[0]
    assert set(words) <= set(re.findall("`([a-z_]+)`", table))
    assert len(words) > 25


def test_the_change_log_names_the_current_version() -> None:
    version = re.search(r'= "(.+)"', (ROOT / "src" / "proton" / "_version.py").read_text())
    assert version is not None
    assert f"\n## {version.group(1)}\n" in (ROOT / "CHANGELOG.md").read_text()
