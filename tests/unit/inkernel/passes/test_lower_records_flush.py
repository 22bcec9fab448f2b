"""The flush strategy: what the pass leaves, and how long a warp may wait."""

import pytest

from proton.errors import UsageError
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from tests.unit.inkernel.llvm.test_counting import random_kernel


def test_every_record_takes_and_gives_the_bytes_written() -> None:
    module = LlvmModule(random_kernel(11))
    LowerRecordsFlush(spin=12).apply(module)
    verify(module)
    assert "proton.flush_record " in module.text()
    assert "strategy=flush spin=12" in module.text()


@pytest.mark.parametrize("spin", [0, 1 << 31])
def test_a_wait_has_a_limit(spin: int) -> None:
    with pytest.raises(UsageError, match="spin must be from 1"):
        LowerRecordsFlush(spin=spin)
