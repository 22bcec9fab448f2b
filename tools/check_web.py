"""Checks of web/src for `check_tree`: order of layers, purpose of files, no HTML made from text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Complaints = list[str]

# Layers from below; a file imports from its own layer and those before it. A folder counts as its
# name, one inside another as `outer/inner`, a file beside folders as its stem. Sub-rooms of one
# layer do not import each other.
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "schema",
        "names units",
        "unpack live",
        "model",
        "layout",
        "layout/flame layout/inkernel layout/timeline",
        "draw",
        "draw/timeline",
        "state renew",
        "views/widgets",
        "views/source views/folder",
        "views/diff views/flame views/inkernel views/roofline views/summary views/tables "
        "views/timeline",
        "views/shell",
        "main",
    )
)
_RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']*)["']""")

# What turns text into markup or script; names of profiles must never get there.
UNSAFE = (
    "dangerouslySetInnerHTML",
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "setHTMLUnsafe",
    "createContextualFragment",
    "DOMParser",
    "document.write",
    "srcdoc",
    "new Function",
    "eval(",
    "javascript:",
)
_LINK = re.compile(r"href=\{(?!`view/)")  # a link of ours begins with a folder of the server's


def sources(root: Path) -> Iterator[Path]:
    """Every TypeScript file of the page."""
    yield from sorted(path for path in (root / "web" / "src").rglob("*.ts*") if path.is_file())


def is_test(path: Path) -> bool:
    """Whether a file is a unit test."""
    return ".test." in path.name


def layer_of(folder: Path, path: Path) -> str:
    """The layer's word of a file below `folder`: its folders, or its stem."""
    *folders, name = path.relative_to(folder).parts
    return "/".join(folders) or name.split(".")[0]


def check_web_layers(root: Path) -> Complaints:
    """Imports go one way, and every file is in a layer."""
    folder = root / "web" / "src"
    complaints = []
    for path in sources(root):
        name, layer = path.relative_to(root).as_posix(), layer_of(folder, path)
        if layer not in _RANK:
            complaints.append(f"{name}: {layer!r} is no layer of tools/check_web.py")
            continue
        if is_test(path):
            continue
        for target in _IMPORT.findall(path.read_text(encoding="utf-8")):
            other = layer_of(folder, Path(_normal(path.parent / target)))
            if target.endswith(".css"):
                continue
            is_stranger = "/" in layer and other != layer and _RANK.get(other) == _RANK[layer]
            if is_stranger or _RANK.get(other, len(LAYERS)) > _RANK[layer]:
                complaints.append(f"{name}: layer {layer!r} must not import {target!r}")
    return complaints


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(Path(*parts))


def check_web_headers(root: Path) -> Complaints:
    """Every file opens with a comment on its purpose; tests say it in their names."""
    return [
        f"{path.relative_to(root).as_posix()}: does not open with a comment on its purpose"
        for path in sources(root)
        if not is_test(path) and not path.read_text(encoding="utf-8").startswith(("/**", "//"))
    ]


def check_web_markup(root: Path) -> Complaints:
    """Nothing makes markup or script from text."""
    complaints = []
    for path in sources(root):
        if is_test(path):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            complaints += [
                f"{path.relative_to(root).as_posix()}:{number}: {word!r} makes markup of text"
                for word in (*UNSAFE, *_LINK.findall(line))
                if word in line
            ]
    return complaints


WEB_CHECKS = (check_web_layers, check_web_headers, check_web_markup)
