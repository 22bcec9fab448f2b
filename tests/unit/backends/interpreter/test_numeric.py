import numpy as np
import pytest

from proton.backends.interpreter.numeric import pack, unpack


def test_bfloat16_rounds_to_nearest_with_ties_to_even() -> None:
    one = np.float32(1)
    step = np.float32(2**-7)
    values = np.array([one + step / 2, one + step * 1.5, one + step * 0.75, -one], np.float32)
    assert unpack(pack(values, "bf16"), "bf16").tolist() == [1, 1 + 2 * step, 1 + step, -1]


def test_bfloat16_keeps_nan_and_infinity() -> None:
    values = np.array([np.nan, np.inf, -np.inf], np.float32)
    back = unpack(pack(values, "bf16"), "bf16")
    assert np.isnan(back[0])
    assert back[1:].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("name", ["fp8e4nv", "fp8e5"])
def test_every_finite_fp8_code_survives_unpacking_and_packing(name: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = unpack(codes, name)
    finite = np.isfinite(values)
    assert np.array_equal(pack(values, name)[finite], codes[finite])


@pytest.mark.parametrize(("name", "largest"), [("fp8e4nv", 448.0), ("fp8e5", 57344.0)])
def test_fp8_saturates(name: str, largest: float) -> None:
    packed = pack(np.array([1e9, -1e9, np.inf], np.float32), name)
    assert unpack(packed, name).tolist() == [largest, -largest, largest]


def test_fp8_rounds_ties_to_even() -> None:
    # fp8e4nv steps by 0.125 from 1 to 2
    values = np.array([1.0625, 1.1875], np.float32)
    assert unpack(pack(values, "fp8e4nv"), "fp8e4nv").tolist() == [1.0, 1.25]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "torch_name"),
    [("bf16", "bfloat16"), ("fp8e4nv", "float8_e4m3fn"), ("fp8e5", "float8_e5m2")],
)
def test_values_agree_with_torch(name: str, torch_name: str) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    expected = torch.from_numpy(values).to(getattr(torch, torch_name)).float().numpy()
    assert np.array_equal(unpack(pack(values, name), name), expected)
