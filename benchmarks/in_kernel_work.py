"""The pieces of work of `in_kernel.py`: kernels with their arguments, sizes and right results.

Every kernel can be compiled for sm_90 without a GPU (`source`), run small in Triton's interpreter
and large on a GPU (`prepare`); both compare what it computed with torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
SMS = 132  # of an H200
PROGRAMS = 16 * SMS  # more than run at once, so that a wave more or less does not show
TOP = 8
DROPPED, EPSILON = 0.25, 1e-5


@dataclass(frozen=True)
class Prepared:
    """What one launch needs: `run` launches once, `check` raises where the result is wrong."""

    run: Callable[[], Any]
    check: Callable[[], None]


@dataclass(frozen=True)
class Case:
    """One kernel.

    Attributes:
        arguments: name -> type, as Triton's signatures have it; constants come after them.
        make: from torch and whether it is small to (arguments, grid, check).
    """

    arguments: dict[str, str]
    constants: dict[str, int]
    make: Callable[[Any, bool], tuple[list[Any], tuple[int, ...], Callable[[], None]]]
    options: dict[str, int] = field(default_factory=lambda: {"num_warps": 4})
    small: dict[str, int] = field(default_factory=dict)  # constants of small sizes


def load_kernels(language: Any = None) -> ModuleType:
    """The kernels; a copy with scopes of another `language` where one is given.

    By their path: the GPU tests have a module of that name too.
    """
    name = f"benchmarked_kernels_{'' if language is None else language.__name__.replace('.', '_')}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, HERE / "in_kernel_kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    if language is not None:
        module.pl = language  # type: ignore[attr-defined]
    return module


def prepare(name: str, *, kernels: ModuleType | None = None, is_small: bool = False) -> Prepared:
    """A kernel with its arguments on the GPU; `is_small`: tiny, and where the interpreter is."""
    import torch

    torch.manual_seed(0)
    case = CASES[name]
    kernel = getattr(kernels or load_kernels(), name)
    arguments, grid, check = case.make(torch, is_small)
    constants = case.constants | (case.small if is_small else {})
    launch = kernel[grid]

    def run() -> Any:
        return launch(*arguments, **constants, **case.options)

    return Prepared(run, check)


def source(name: str, kernels: ModuleType | None = None) -> Any:
    """The kernel for `triton.compile`: pointers and whole numbers are multiples of 16."""
    from triton.compiler import ASTSource

    case = CASES[name]
    aligned = {
        (at,): [["tt.divisibility", 16]]
        for at, kind in enumerate(case.arguments.values())
        if kind.startswith("*") or kind == "i32"
    }
    signature = case.arguments | dict.fromkeys(case.constants, "constexpr")
    return ASTSource(
        getattr(kernels or load_kernels(), name), signature, dict(case.constants), aligned
    )


def check_all(names: Iterable[str], *, is_small: bool) -> list[str]:
    """Run each kernel once and compare with torch; what was wrong, one line each."""
    wrong = []
    for name in names:
        piece = prepare(name, is_small=is_small)
        piece.run()
        try:
            piece.check()
        except AssertionError as error:
            wrong.append(f"{name}: {' '.join(str(error).split())}")
    return wrong


def _close(
    torch: Any, of: Callable[[], tuple[Any, Any]], *, within: float = 1e-4
) -> Callable[[], None]:
    """A check that two tensors agree, relative to their size."""

    def check() -> None:
        found, expected = (each.float() for each in of())
        off = ((found - expected).norm() / expected.norm()).item()
        assert off < within, f"the result is {off:.2%} off"

    return check


def _device(is_small: bool) -> str:
    return "cpu" if is_small else "cuda"


def _softmax(torch: Any, is_small: bool) -> Any:
    rows, n = (3, 200) if is_small else (32768, 4096)
    x = torch.randn(rows, n, device=_device(is_small))
    y = torch.empty_like(x)
    check = _close(torch, lambda: (y, torch.softmax(x, 1)))
    return [x, y, rows, n], (2 if is_small else PROGRAMS,), check


def _layer_norm(torch: Any, is_small: bool) -> Any:
    rows, n = (3, 200) if is_small else (32768, 4096)
    x, w, b = (torch.randn(*size, device=_device(is_small)) for size in ((rows, n), (n,), (n,)))
    y = torch.empty_like(x)

    def of() -> tuple[Any, Any]:
        return y, torch.nn.functional.layer_norm(x, (n,), w, b, EPSILON)

    return [x, w, b, y, rows, n, EPSILON], (2 if is_small else PROGRAMS,), _close(torch, of)


def _dropout(torch: Any, is_small: bool) -> Any:
    n = 2000 if is_small else 1 << 27
    x = torch.rand(n, device=_device(is_small)) + 1
    y = torch.full_like(x, -1.0)

    def check() -> None:
        kept = y != 0
        assert torch.allclose(y[kept], x[kept] / (1 - DROPPED)), "what is kept is scaled wrongly"
        share = kept.float().mean().item()
        assert abs(share - (1 - DROPPED)) < 3 / n**0.5, f"{share:.2%} are kept"

    return [x, y, n, DROPPED, 7], (2 if is_small else PROGRAMS,), check


def _swiglu(torch: Any, is_small: bool) -> Any:
    rows, n = (3, 200) if is_small else (32768, 4096)
    x = torch.randn(rows, 2 * n, device=_device(is_small))
    y = torch.empty(rows, n, device=_device(is_small))

    def of() -> tuple[Any, Any]:
        gate, up = x.chunk(2, 1)
        return y, torch.nn.functional.silu(gate) * up

    return [x, y, rows, n], (2 if is_small else PROGRAMS,), _close(torch, of)


def _topk(torch: Any, is_small: bool) -> Any:
    rows, n = (3, 200) if is_small else (16384, 4096)
    x = torch.randn(rows, n, device=_device(is_small))
    values = torch.empty(rows, TOP, device=_device(is_small))
    indices = torch.empty(rows, TOP, device=_device(is_small), dtype=torch.int32)

    def check() -> None:
        expected = torch.topk(x, TOP, dim=1)
        assert torch.equal(values, expected.values), "these are not the largest values"
        picked = torch.gather(x, 1, indices.long())
        assert torch.equal(picked, values), "the indices are not those of the values"

    return [x, values, indices, rows, n], (2 if is_small else PROGRAMS,), check


def _fused_elementwise(torch: Any, is_small: bool) -> Any:
    n = 2000 if is_small else 1 << 27
    x, residual = (torch.randn(n, device=_device(is_small)) for _ in range(2))
    y = torch.empty_like(x)

    def of() -> tuple[Any, Any]:
        scaled = x * 1.5 + 0.25
        return y, scaled * torch.sigmoid(1.702 * scaled) + residual

    return [x, residual, y, n, 1.5, 0.25], (2 if is_small else PROGRAMS,), _close(torch, of)


def _halves(torch: Any, is_small: bool, *sizes: tuple[int, int]) -> list[Any]:
    return [torch.randn(size, device=_device(is_small)).half() for size in sizes]


def _product(grid: int) -> Callable[[Any, bool], Any]:
    """A product of square matrices on so many CTAs; 0: one for each tile."""

    def make(torch: Any, is_small: bool) -> Any:
        m, n, k = (32, 64, 48) if is_small else (4096, 4096, 4096)
        a, b, c = _halves(torch, is_small, (m, k), (k, n), (m, n))
        tiles = 8 if is_small else (4096 // 128) * (4096 // 256)
        check = _close(torch, lambda: (c, a.float() @ b.float()), within=2e-3)
        ctas = min(grid, 3 if is_small else grid) or tiles
        return [a, b, c, m, n, k], (ctas,), check

    return make


def _grouped_gemm(torch: Any, is_small: bool) -> Any:
    sizes = [(32, 32, 32), (16, 32, 48)] if is_small else [(2048, 2048, 4096), (1024, 4096, 2048)]
    sizes = sizes if is_small else 2 * sizes
    groups = [_halves(torch, is_small, (m, k), (k, n), (m, n)) for m, n, k in sizes]
    where = _device(is_small)
    pointers = [each.data_ptr() for group in groups for each in group]
    addresses = torch.tensor(pointers, dtype=torch.int64, device=where)
    shapes = torch.tensor(sizes, dtype=torch.int32, device=where)

    def of() -> tuple[Any, Any]:
        found = torch.cat([c.flatten() for _, _, c in groups])
        return found, torch.cat([(a.float() @ b.float()).flatten() for a, b, _ in groups])

    check = _close(torch, of, within=2e-3)
    return [addresses, shapes, len(sizes)], (3 if is_small else SMS,), check


def _attention(torch: Any, is_small: bool) -> Any:
    heads, n, depth = (2, 64, 16) if is_small else (64, 4096, 64)
    q, k, v, o = (torch.randn(heads, n, depth, device=_device(is_small)).half() for _ in range(4))
    scale = depth**-0.5

    def of() -> tuple[Any, Any]:
        whole = torch.nn.functional.scaled_dot_product_attention
        return o, whole(*(each.float()[None] for each in (q, k, v)))[0]

    grid = (n // (32 if is_small else 128), heads)
    return [q, k, v, o, scale, n], grid, _close(torch, of, within=5e-3)


def _back_to_back(torch: Any, is_small: bool) -> Any:
    cycles = torch.zeros(128, dtype=torch.int32, device=_device(is_small))
    return [cycles, 4], (1,), lambda: None


_ROWS = {"BLOCK": 4096}
_SMALL_ROWS = {"BLOCK": 256}
_TILES = {"BM": 128, "BN": 256, "BK": 64}
_SMALL_TILES = {"BM": 16, "BN": 16, "BK": 16}
_PIPELINED = {"num_warps": 8, "num_stages": 3}
_ABC = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16")
_MNK = dict.fromkeys(("M", "N", "K"), "i32")
_WHOLE = {"rows": "i32", "N": "i32"}


def _floats(*names: str) -> dict[str, str]:
    return dict.fromkeys((f"{name}_ptr" for name in names), "*fp32")


TEN = {
    "softmax": Case(_floats("x", "y") | _WHOLE, _ROWS, _softmax, {"num_warps": 8}, _SMALL_ROWS),
    "layer_norm": Case(
        _floats("x", "w", "b", "y") | _WHOLE | {"eps": "fp32"},
        _ROWS,
        _layer_norm,
        {"num_warps": 8},
        _SMALL_ROWS,
    ),
    "dropout": Case(
        _floats("x", "y") | {"n": "i32", "p": "fp32", "seed": "i32"},
        {"BLOCK": 2048},
        _dropout,
        small=_SMALL_ROWS,
    ),
    "matmul": Case(_ABC | _MNK, _TILES, _product(0), _PIPELINED, _SMALL_TILES),
    "persistent_matmul": Case(_ABC | _MNK, _TILES, _product(SMS), _PIPELINED, _SMALL_TILES),
    "grouped_gemm": Case(
        {"addresses_ptr": "*i64", "shapes_ptr": "*i32", "groups": "i32"},
        _TILES,
        _grouped_gemm,
        _PIPELINED,
        _SMALL_TILES,
    ),
    "attention": Case(
        dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "o_ptr"), "*fp16")
        | {"scale": "fp32", "N": "i32"},
        {"BM": 128, "BN": 64, "D": 64},
        _attention,
        {"num_warps": 4, "num_stages": 3},
        {"BM": 32, "BN": 16, "D": 16},
    ),
    "swiglu": Case(_floats("x", "y") | _WHOLE, _ROWS, _swiglu, {"num_warps": 8}, _SMALL_ROWS),
    "topk": Case(
        _floats("x", "values") | {"indices_ptr": "*i32"} | _WHOLE,
        {"K": TOP, "BLOCK": 4096},
        _topk,
        {"num_warps": 8},
        {"K": TOP, "BLOCK": 256},
    ),
    "fused_elementwise": Case(
        _floats("x", "r", "y") | {"n": "i32", "scale": "fp32", "shift": "fp32"},
        {"BLOCK": 2048},
        _fused_elementwise,
        small=_SMALL_ROWS,
    ),
}
RECORDS = 130  # of a warp of recorded_matmul: 2 of its loop, 2 for each of 64 iterations
COUNT = 32  # empty regions of back_to_back
CASES = TEN | {
    "recorded_matmul": Case(_ABC | _MNK, _TILES, _product(0), _PIPELINED, _SMALL_TILES),
    "back_to_back": Case(
        {"cycles_ptr": "*i32", "turns": "i32"}, {"COUNT": COUNT, "THREADS": 128}, _back_to_back
    ),
}
