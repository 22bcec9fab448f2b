"""Many combinations, a few of which are in every run; the others are marked `wide`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest


def combinations(*axes: Iterable[Any], kept: Callable[..., bool]) -> list[Any]:
    """Every combination, for `parametrize`; `kept(*combination)`: whether it is in every run."""
    return [
        pytest.param(*chosen, marks=() if kept(*chosen) else pytest.mark.wide)
        for chosen in product(*axes)
    ]
