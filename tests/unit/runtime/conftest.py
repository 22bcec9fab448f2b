"""A GPU to launch on and a session that records it, in a folder of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proton


@pytest.fixture
def gpu(fake_gpu: Any, tmp_cwd: Path) -> Any:
    """The fake GPU; files of sessions land in an empty folder."""
    return fake_gpu


@pytest.fixture
def session(gpu: Any) -> Iterator[int]:
    """An open session that has something to write when it ends."""
    opened = proton.start("run")
    assert opened is not None
    yield opened
    gpu.launch("last")
    proton.finalize(opened)
