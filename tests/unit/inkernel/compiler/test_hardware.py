import pytest

from proton.inkernel.compiler.resources import ctas_at_once, limits_of


@pytest.mark.parametrize(
    ("backend", "arch", "kib"),
    [
        *(("cuda", 80, 163), ("cuda", 90, 227), ("cuda", 100, 227), ("cuda", 89, 99)),
        *(("cuda", 120, 99), ("cuda", 777, 99), ("hip", "gfx942", 64), ("hip", "gfx950", 160)),
        ("hip", "gfx90a:sramecc+", 64),
    ],
)
def test_a_cta_may_have_so_much_shared_memory(backend: str, arch: object, kib: int) -> None:
    assert limits_of(backend, arch).cta_shared == kib * 1024


def test_ctas_are_limited_by_what_runs_out_first() -> None:
    h100 = limits_of("cuda", 90)
    assert ctas_at_once(h100, shared_bytes=0, threads=128) == 16
    assert ctas_at_once(h100, shared_bytes=0, threads=32) == 32
    assert ctas_at_once(h100, shared_bytes=113 * 1024, threads=128) == 2
    assert ctas_at_once(h100, shared_bytes=114 * 1024, threads=128) == 1
    mi300 = limits_of("hip", "gfx942")
    assert ctas_at_once(mi300, shared_bytes=0, threads=256) == 8


def test_registers_limit_warps_by_quarters() -> None:
    h100 = limits_of("cuda", 90)
    assert ctas_at_once(h100, shared_bytes=0, threads=128, registers=32) == 16
    assert ctas_at_once(h100, shared_bytes=0, threads=128, registers=168) == 3
    assert ctas_at_once(h100, shared_bytes=0, threads=128, registers=169) == 2
    assert ctas_at_once(h100, shared_bytes=0, threads=128, registers=255) == 2
