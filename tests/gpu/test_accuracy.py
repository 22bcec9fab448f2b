"""Regions of known duration: what Proton measures of them, after correction, against the truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.accuracy_suite import CHANGED, PARTS, Accuracy, Suite

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Accuracy]]:
    """The suite, run once, with a calibration of its own."""
    torch: Any = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    folder: Path = tmp_path_factory.mktemp("costs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROTON_CACHE_DIR", str(folder))
        yield {each.name: each for each in Suite().measure()}


@pytest.mark.parametrize("name", PARTS)
def test_a_region_of_known_duration_is_measured_right(
    measured: dict[str, Accuracy], name: str
) -> None:
    print(measured[name])
    assert measured[name].error <= measured[name].allowed, str(measured[name])


@pytest.mark.parametrize("name", CHANGED)
def test_what_records_change_stays_small(measured: dict[str, Accuracy], name: str) -> None:
    print(measured[name])
    assert measured[name].error <= 0.3 * measured[name].truth, str(measured[name])


def test_the_truth_is_what_was_asked_for(measured: dict[str, Accuracy]) -> None:
    """A spin takes what it was told, within a turn of its loop; memory is slower than caches."""
    for cycles, text in ((1000, "1000"), (10_000, "10 000"), (100_000, "100 000")):
        truth = measured[f"spin of {text} cycles"].truth
        assert cycles <= truth <= cycles + 100, str(measured[f"spin of {text} cycles"])
    near, far = (measured[f"100 dependent loads, {level} cache"].truth for level in ("L1", "L2"))
    beyond = measured["32 dependent loads, memory"].truth
    assert near / 100 < far / 100 < beyond / 32
