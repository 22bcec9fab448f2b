"""Tests of Parquet: with pyarrow, and what is said without it."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import pytest

from proton.errors import PackageMissing
from proton.files.export.table import export_parquet as export
from tests.support.profiles import profile_of

PROFILE = replace(
    profile_of(
        [(0, "ROOT", {}), (1, "k", {"time (ns)": 5, "v": (1, 2), "big": 2**64 - 1, "x": 1})]
    ),
    losses={"dropped": 3},
)


def test_columns_have_types_and_losses_stand_in_the_metadata() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(export(PROFILE).content))
    assert table.column("time (ns)").to_pylist() == [None, 5]
    assert table.column("v").to_pylist() == [None, [1.0, 2.0]]
    types = {name: str(table.schema.field(name).type) for name in ("name", "x", "big", "file")}
    assert types == {"name": "string", "x": "int64", "big": "double", "file": "string"}
    assert json.loads(table.schema.metadata[b"proton"])["losses"] == {"dropped": 3}


def test_without_pyarrow_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PackageMissing) as raised:
        export(PROFILE)
    assert str(raised.value) == (
        'Parquet needs pyarrow, which is not installed; pip install "proton-profiler[parquet]"'
    )
