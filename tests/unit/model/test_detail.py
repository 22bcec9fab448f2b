"""How kernels spread."""

from __future__ import annotations

from proton.model.tree import KernelDetail, detail_of, merge_details, quantiles


def test_quantiles_are_values_that_shares_do_not_exceed() -> None:
    assert quantiles([1.5, 2.5, 4.0, 9.0], 0.25, 0.5, 0.51, 1.0) == [1.5, 2.5, 4.0, 9.0]
    assert quantiles([7], 0.5, 0.99) == [7, 7]


def test_the_detail_of_some_runs() -> None:
    assert detail_of([30, 10, 20], {"registers": 8}) == KernelDetail(
        10, 30, 20, 30, {"registers": 8}
    )
    assert detail_of([7]) == KernelDetail(7, 7, 7, 7)
    assert detail_of(range(1, 201))[:4] == (1, 200, 100, 198)


def test_a_union_has_the_extremes_of_both_and_no_quantiles() -> None:
    first = KernelDetail(10, 30, 20, 30, {"grid": (1, 1, 1), "registers": 8})
    second = KernelDetail(5, 20, 10, 19, {"grid": (2, 1, 1), "registers": 8})
    assert merge_details(first, second) == KernelDetail(5, 30, None, None, {"registers": 8})
