"""Tensors and numpy values as metrics."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proton.errors import MetricTypeError
from proton.metric import FLOPS_WIDTHS, set_metric_kernels, transform_tensor_metrics
from proton.runtime.tensor_metrics import is_device_tensor, is_tensor, to_plain, to_value

numpy = pytest.importorskip("numpy")


class DeviceTensor:
    """Looks like a torch tensor on a GPU."""

    device = SimpleNamespace(type="cuda", __str__=lambda self: "cuda:0")


@pytest.fixture
def device_tensor(monkeypatch: pytest.MonkeyPatch) -> DeviceTensor:
    monkeypatch.setitem(__import__("sys").modules, "torch", SimpleNamespace(Tensor=DeviceTensor))
    return DeviceTensor()


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (numpy.int32(3), 3),
        (numpy.float32(0.5), 0.5),
        (numpy.bool_(True), True),
        (numpy.array(7), 7),
        (numpy.array([1, 2]), [1, 2]),
        (numpy.array([[1.0, 2.0], [3.0, 4.0]]), [1.0, 2.0, 3.0, 4.0]),
        ((1, 2), [1, 2]),
    ],
)
def test_numpy_values_become_numbers_and_lists(value: Any, plain: Any) -> None:
    assert to_plain("m", value) == plain


@pytest.mark.parametrize(
    "value", ["text", None, object(), {1: 2}, numpy.array(["a"]), numpy.complex64(1j), 3j]
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(MetricTypeError, match=r"metric 'm' is .*; give an int, a float, a list"):
        to_plain("m", value)


def test_the_refusal_is_also_a_type_error_and_a_value_error() -> None:
    with pytest.raises(TypeError):
        to_plain("m", "text")
    with pytest.raises(ValueError, match="a str; give"):
        to_plain("m", "text")


@pytest.mark.torch
def test_cpu_tensors_become_numbers_and_lists() -> None:
    torch = pytest.importorskip("torch")
    assert to_plain("m", torch.tensor(3)) == 3
    assert to_plain("m", torch.tensor(0.5, requires_grad=True)) == 0.5
    assert to_plain("m", torch.tensor([[1, 2], [3, 4]])) == [1, 2, 3, 4]
    assert to_plain("m", torch.tensor([[0.5]], dtype=torch.bfloat16)) == 0.5


@pytest.mark.torch
def test_a_tensor_outside_host_memory_is_refused_with_the_remedy() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(MetricTypeError, match=r"on device 'meta', which only .* value\.cpu\(\)"):
        to_value("m", torch.empty(1, device="meta"))


def test_device_tensors_are_told_apart(device_tensor: DeviceTensor) -> None:
    assert is_tensor(device_tensor)
    assert is_device_tensor(device_tensor)


def test_transform_parts_plain_values_from_device_tensors(device_tensor: DeviceTensor) -> None:
    plain, tensors = transform_tensor_metrics(
        {"a": 1, "b": numpy.array([1, 2]), "c": device_tensor}
    )
    assert (plain, tensors) == ({"a": 1, "b": [1, 2]}, {"c": device_tensor})


def test_transform_makes_flops_floats_and_bytes_ints() -> None:
    plain, _ = transform_tensor_metrics({"flops": 1, "flops16": [2], "bytes": 3.0})
    assert [type(value) for value in (plain["flops"], plain["bytes"])] == [float, int]
    assert plain["flops16"] == [2.0]


def test_the_widths_are_the_known_ones() -> None:
    assert FLOPS_WIDTHS == (8, 16, 32, 64)


def test_metric_kernels_may_be_set_at_any_time() -> None:
    set_metric_kernels()
