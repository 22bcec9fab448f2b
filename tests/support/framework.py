"""A small transformer on the CPU, and the rows of what sessions record of it."""

# torch is no requirement of the tests, and has no types here.
# mypy: disable-error-code="misc, no-any-return, no-untyped-call"

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import proton


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 2, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Any) -> Any:
        normed = self.norm(x)
        attended, _ = self.attn(normed, normed, normed, need_weights=False)
        return x + attended + self.mlp(normed)


class Transformer(nn.Module):
    def __init__(self, width: int = 8, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, width)
        self.h = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, 20)

    def forward(self, tokens: Any) -> Any:
        x = self.embedding(tokens)
        for block in self.h:
            x = block(x)
        return self.head(x)


def train_step(model: Any) -> None:
    tokens = torch.arange(6).reshape(2, 3)
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()


class Row(NamedTuple):
    """A node of a tree: the names down to it, its kinds as letters, its metrics."""

    path: tuple[str, ...]
    kinds: str
    metrics: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path[-1]

    def modules(self) -> list[str]:
        return [name for name, kind in zip(self.path, self.kinds, strict=True) if kind == "m"]

    @property
    def is_backward(self) -> bool:
        return "b" in self.kinds


def rows_of(path: str | Path) -> list[Row]:
    """All rows of a tree but its root."""
    root = json.loads(Path(path).read_text())[0]
    letters = iter(root["proton"]["kinds"])

    def walk(node: Any, above: tuple[str, ...], kinds: str) -> Iterator[Row]:
        letter = next(letters)
        path = (*above, node["frame"]["name"]) if letter != "r" else ()
        kinds = kinds + letter if letter != "r" else ""
        if path:
            yield Row(path, kinds, node["metrics"])
        for child in node["children"]:
            yield from walk(child, path, kinds)

    return list(walk(root, (), ""))


def header_of(path: str | Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(Path(path).read_text())[0]["proton"]
    return header


def record(work: Callable[[], object], context: str = "ops", **options: Any) -> list[Row]:
    """The rows of a session around `work`."""
    session = proton.start("run", context=context, **options)
    try:
        work()
    finally:
        proton.finalize(session)
    return rows_of("run.hatchet")


def calls_of(rows: list[Row]) -> Counter[str]:
    """Operator -> how often it was called, nodes of backward passes too."""
    calls: Counter[str] = Counter()
    for row in rows:
        if row.kinds[-1] == "o":
            calls[row.name] += row.metrics.get("calls", 0)
    return +calls
