# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter.arguments import ArrayView, as_view
from proton.errors import KernelError, UsageError

pytestmark = pytest.mark.matrix


@triton.jit
def copy(src, dst, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < n), mask=i < n)


@triton.jit
def store_scalar(dst, value):
    tl.store(dst, value)


@pytest.mark.parametrize(
    "dtype",
    [
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    ],
)
def test_numpy_arrays_of_every_kernel_type_are_read_and_written(sink: Any, dtype: str) -> None:
    source = (np.arange(8) % 2).astype(dtype)
    target = np.zeros(8, dtype)
    copy[(1,)](source, target, 8, BLOCK=8)
    assert np.array_equal(source, target)


def test_a_dtype_that_kernels_do_not_know_is_refused_by_name(sink: Any) -> None:
    array = np.zeros(8, np.complex64)
    with pytest.raises(UsageError, match=r"argument 'src' of kernel 'copy' .*complex64"):
        copy[(1,)](array, array, 8, BLOCK=8)


def test_bytes_in_foreign_order_are_refused(sink: Any) -> None:
    array = np.zeros(8, ">f4")
    with pytest.raises(UsageError, match="argument 'src'"):
        copy[(1,)](array, array, 8, BLOCK=8)


def test_a_strided_view_is_passed_by_the_address_of_its_first_element(sink: Any) -> None:
    base = np.arange(16, dtype=np.float32)
    target = np.zeros(4, np.float32)
    copy[(1,)](base[4:12:2], target, 4, BLOCK=4)
    assert target.tolist() == [4, 5, 6, 7]


def test_a_store_to_a_read_only_array_fails_by_name_and_writes_nothing(sink: Any) -> None:
    target = np.zeros(8, np.float32)
    target.flags.writeable = False
    with pytest.raises(KernelError, match="argument 'dst' is a read-only array"):
        copy[(1,)](np.ones(8, np.float32), target, 8, BLOCK=8)
    assert target.sum() == 0


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, "bool", True),
        (7, "int32", 7),
        (2**40, "int64", 2**40),
        (1.5, "float32", 1.5),
        (np.int64(3), "int32", 3),
        (np.float64(0.5), "float32", 0.5),
        (np.bool_(True), "bool", True),
    ],
)
def test_scalars_of_python_and_numpy_are_passed(
    sink: Any, value: object, dtype: str, expected: object
) -> None:
    target = np.zeros(1, dtype)
    store_scalar[(1,)](target, value)
    assert target[0] == expected


def test_a_uint16_array_can_be_taken_as_bfloat16(sink: Any) -> None:
    bits = np.array([0x3F80, 0x4000], np.uint16)  # 1.0 and 2.0
    target = np.zeros(2, np.float32)
    copy[(1,)](triton.reinterpret(bits, tl.bfloat16), target, 2, BLOCK=2)
    assert target.tolist() == [1.0, 2.0]


def test_a_tuple_of_arrays_names_its_members(sink: Any) -> None:
    @triton.jit
    def first_of_both(pair, dst):
        tl.store(dst, tl.load(pair[0]) + tl.load(pair[1]))

    target = np.zeros(1, np.float32)
    first_of_both[(1,)]((np.ones(1, np.float32), np.ones(1, np.float32)), target)
    assert target[0] == 2
    assert sink.metrics["load_bytes[pair[1]]"] == 4


def test_memory_of_a_gpu_is_refused_with_one_clear_line(sink: Any) -> None:
    class GpuArray:
        __cuda_array_interface__: dict[str, int] = {}  # noqa: RUF012

    with pytest.raises(UsageError, match="argument 'src' of kernel 'copy' is in GPU memory"):
        copy[(1,)](GpuArray(), np.zeros(8, np.float32), 8, BLOCK=8)


@pytest.mark.torch
def test_a_tensor_that_is_not_on_the_cpu_is_refused(sink: Any) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"'src' .* is in GPU memory \(meta\)"):
        copy[(1,)](torch.empty(8, device="meta"), torch.empty(8), 8, BLOCK=8)


@pytest.mark.torch
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "bfloat16", "int64", "float8_e4m3fn", "float8_e5m2"]
)
def test_cpu_tensors_are_read_and_written(sink: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    source = torch.arange(8).float().to(getattr(torch, dtype))
    target = torch.zeros(8).to(source.dtype)
    copy[(1,)](source, target, 8, BLOCK=8)
    assert torch.equal(source.float(), target.float())


@pytest.mark.torch
def test_a_tensor_descriptor_is_read_through_its_base(sink: Any) -> None:
    torch = pytest.importorskip("torch")
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def sum_tile(desc, dst):
        tl.store(dst, tl.sum(tl.sum(desc.load([0, 16]), 1), 0))

    x = torch.arange(32 * 32).reshape(32, 32).float()
    target = torch.zeros(1)
    sum_tile[(1,)](TensorDescriptor.from_tensor(x, [8, 16]), target)
    assert target[0] == x[:8, 16:].sum()
    assert sink.metrics["load_bytes[desc]"] == 8 * 16 * 4


def test_views_have_the_tensor_methods_that_hooks_call() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    view = as_view(array)
    assert isinstance(view, ArrayView)
    assert (view.element_size(), view.numel()) == (4, 6)
    assert (view.stride(), view.stride(0)) == ((3, 1), 3)
    assert view.data_ptr() == array.ctypes.data
    kept = view.clone()
    view.zero_()
    assert array.sum() == 0
    view.copy_(kept)
    assert array.sum() == 15


def test_an_integer_beyond_64_bits_is_refused(sink: Any) -> None:
    with pytest.raises(UsageError, match="integers have up to 64 bits"):
        store_scalar[(1,)](np.zeros(1, np.int64), 2**64)


@pytest.mark.torch
def test_numpy_arrays_do_not_import_torch(run_python: Any) -> None:
    pytest.importorskip("torch")
    result = run_python(
        """
        import sys
        import numpy
        import triton
        import triton.language as tl
        import proton

        @triton.jit
        def fill(x, n, BLOCK: tl.constexpr):
            tl.store(x + tl.arange(0, BLOCK), n)

        proton.start("run")
        fill[(1,)](numpy.zeros(4, numpy.int32), 3, BLOCK=4)
        proton.finalize()
        print("torch" in sys.modules)
        """
    )
    assert result.stdout == "False\n", result.stderr
