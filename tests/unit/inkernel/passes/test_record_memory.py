"""record-memory: its options. What it leaves is in tests/passes."""

import pytest

from proton.errors import UsageError
from proton.inkernel.passes.record_memory import RecordMemory


def test_the_table_is_a_power_of_two_of_bins_of_a_power_of_two() -> None:
    assert RecordMemory(bins=16, bin_bytes=1 << 30).bins == 16
    for bins, bin_bytes in ((8, 4096), (17, 4096), (1 << 17, 4096), (16, 0), (16, 1 << 31)):
        with pytest.raises(UsageError, match="must be a power of two"):
            RecordMemory(bins=bins, bin_bytes=bin_bytes)
