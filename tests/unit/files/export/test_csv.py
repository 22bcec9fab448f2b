"""Tests of CSV."""

from __future__ import annotations

import csv
import io

import pytest

from proton.errors import UsageError
from proton.files.export.table import export_csv as export
from tests.support.profiles import profile_of


def test_names_with_commas_quotes_and_lines_read_back() -> None:
    name = 'a,"b"\nc'
    content = export(profile_of([(0, "ROOT", {}), (1, name, {"v": (1, 2), "x": 0.5})])).content
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert rows[1]["name"] == name
    assert (rows[1]["v"], rows[1]["x"], rows[0]["x"]) == ("[1, 2]", "0.5", "")


def test_a_metric_cannot_be_picked() -> None:
    with pytest.raises(UsageError, match="a table holds every metric"):
        export(profile_of([(0, "ROOT", {})]), "time")
