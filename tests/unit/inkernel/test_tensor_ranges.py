"""Ranges of memory, out of what a kernel is launched with."""

from dataclasses import dataclass

from proton.inkernel.memory_counts import TensorRange, tensor_ranges


@dataclass
class Tensor:
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int = 0x1000

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return 4

    def stride(self) -> tuple[int, ...]:
        return self.strides


@dataclass
class Descriptor:
    base: Tensor


def test_a_tensor_reaches_from_its_first_to_its_last_byte() -> None:
    found = tensor_ranges(
        ("x", "n", "y"),
        (Tensor((4, 8), (16, 1)), 17, Tensor((2,), (1,), 0x9000), Tensor((), (), 0x20)),
    )
    assert found == (
        TensorRange("x", 0x1000, 4 * (3 * 16 + 7 + 1)),
        TensorRange("y", 0x9000, 8),
        TensorRange("arg3", 0x20, 4),
    )


def test_a_descriptor_is_its_base() -> None:
    found = tensor_ranges(("rows",), (Descriptor(Tensor((8,), (1,))),))
    assert found == (TensorRange("rows", 0x1000, 32),)


def test_numbers_texts_and_empty_tensors_are_no_memory() -> None:
    assert tensor_ranges((), (1, None, "x", 2.5, Tensor((0, 4), (4, 1)))) == ()
