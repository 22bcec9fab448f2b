"""Sites: which accesses share a counter, and what the record map says of them."""

import pytest

from proton._native import DeviceMemory
from proton.errors import InstrumentationError
from proton.inkernel.llvm.access_sites import find_sites
from proton.inkernel.llvm.module import LlvmModule


def kernel(*texts: str) -> LlvmModule:
    lines = (
        f'  %proton.access{at} = call i32 asm sideeffect "// proton.access {text}", "=r,r"(i32 1)'
        for at, text in enumerate(texts)
    )
    body = "\n".join(lines)
    return LlvmModule(
        f"define ptx_kernel void @k(ptr addrspace(1) %0) {{\n{body}\n  ret void\n}}\n"
    )


def test_accesses_of_one_name_kind_and_size_share_a_site() -> None:
    sites = find_sites(
        kernel(
            "name=load%20x kind=load bytes=4 line=3 file=a.py argument=0 tensor=x",
            "name=load%20x kind=load bytes=4 line=3 file=a.py argument=0 tensor=x",
            "name=load%20x kind=load bytes=16 line=3 file=a.py argument=0 tensor=x",
            "name=store kind=store bytes=4",
        ).kernel
    )
    assert [site.number for site in sites] == [0, 1, 2]
    assert [site.is_read for site in sites] == [True, True, False]
    assert next(iter(sites)).to_json() == {
        "id": 0,
        "name": "load x",
        "kind": "load",
        "bytes": 4,
        "file": "a.py",
        "line": 3,
        "argument": 0,
        "tensor": "x",
    }


@pytest.mark.parametrize(
    "text", ["kind=load bytes=4", "name=x kind=load bytes=0", "name=x bytes=4"]
)
def test_a_mark_that_says_too_little_is_refused(text: str) -> None:
    with pytest.raises(InstrumentationError, match="malformed carrier"):
        find_sites(kernel(text).kernel)


def test_more_sites_than_counters_are_refused() -> None:
    texts = [f"name=x{at} kind=load bytes=4" for at in range(DeviceMemory.MOST_SITES + 1)]
    with pytest.raises(InstrumentationError, match="there are counters for 256"):
        find_sites(kernel(*texts).kernel)
