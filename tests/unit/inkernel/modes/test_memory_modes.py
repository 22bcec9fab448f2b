"""The modes that count memory accesses."""

import pytest

from proton.errors import UsageError
from proton.inkernel.modes.mode_table import Bytes, Memory, parse_instrumentation


def test_they_are_found_by_name_and_print_as_written() -> None:
    assert parse_instrumentation("bytes") == Bytes()
    mode = parse_instrumentation("memory:bins=1024:bin_bytes=256")
    assert mode == Memory(bins=1024, bin_bytes=256)
    assert parse_instrumentation(str(mode)) == mode
    assert [part.name for part in parse_instrumentation("memory+loops").parts] == [
        "loops",
        "memory",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("memory:bins=1000", "bins must be a power of two from 16"),
        ("memory:bin_bytes=8", "bin_bytes must be a power of two from 16"),
        ("memory:bins=many", "bins must be a whole number"),
        ("bytes:bins=16", "unknown instrumentation option 'bins'"),
    ],
)
def test_tables_that_cannot_be_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_instrumentation(text)
