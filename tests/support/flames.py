"""Flame graphs in a browser: where boxes lie, what is selected, their table; and trees to draw."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.support.browser import Opened

LEVEL = 26  # pixels of a level where there is room


def point(opened: Opened, share: float, level: int, size: int = LEVEL) -> tuple[float, float]:
    """Where a box lies: its place across as a share of the width, and its level."""
    box = opened.page.locator(".flame-scroll canvas").bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + (level + 0.5) * size


def click(opened: Opened, share: float, level: int) -> None:
    opened.page.mouse.click(*point(opened, share, level))


def selected(opened: Opened) -> str:
    opened.page.wait_for_selector(".details h2")
    return opened.texts(".details h2")[0]


def write_tree(path: Path, root: dict[str, Any]) -> Path:
    path.write_text(json.dumps([root, {"CUDA": {"0": {"arch": "90"}}}]))
    return path


def node(name: str, children: list[Any], time_ns: int | None = None) -> dict[str, Any]:
    metrics = {} if time_ns is None else {"time (ns)": time_ns, "count": 1}
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}


def table(opened: Opened) -> list[list[str]]:
    """Name, share, level and way of each box in view, as the table has them."""
    rows = opened.page.locator(".flame-table tbody tr").all()
    cells = [row.locator("td").all_inner_texts() for row in rows]
    clean = [[re.sub(r"\s+", " ", text).strip() for text in each] for each in cells]
    return [[each[0], each[2], each[4].replace("\u2212", "-"), each[5]] for each in clean]
