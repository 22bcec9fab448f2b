"""Shapes of Triton's objects, as far as Proton touches them. Nothing here imports Triton.

Triton has no types of its own; these say which attributes we rely on, for 3.6 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

# A function of Triton's that we stand in for: calls are passed through as they come.
Wrapped = Callable[..., object]
Metadata = dict[str, Any]  # of a kernel while it is compiled: what stages leave for later ones
Stage = Callable[[Any, Metadata], Any]  # one level of IR to the next; each has its own types


class Target(Protocol):
    """What a kernel is compiled for: ("cuda", 90, 32) or ("hip", "gfx942", 64)."""

    backend: str
    arch: int | str
    warp_size: int


class CompilerBackend(Protocol):
    """A vendor's half of Triton's compiler."""

    target: Target

    def parse_options(self, options: dict[str, object]) -> object:
        """The options of a kernel, with those that nobody gave."""


class BuilderOptions(Protocol):
    """The options of the kernel that is being compiled."""

    backend_name: str


class IrModule(Protocol):
    """A module of TTIR or TTGIR; `str` prints it."""

    context: object


class KernelMetadata(Protocol):
    """What Triton keeps beside a compiled kernel; ours is found by name."""

    target: Target
    shared: int
    num_warps: int


class CompiledKernel(Protocol):
    """A kernel as Triton compiled it."""

    name: str
    asm: Mapping[str, str | bytes]
    metadata: KernelMetadata


class LoadedKernel(CompiledKernel, Protocol):
    """The same in the driver."""

    function: int
    hash: str
    src: object


class Config(Protocol):
    """A configuration of an autotuner."""

    kwargs: Mapping[str, object]
    num_warps: int
    num_stages: int


class Autotuner(Protocol):
    """Tries configurations of a kernel; `fn` is what it launches."""

    arg_names: Sequence[str]
    keys: Sequence[str]
    base_fn: Callable[..., object]
    fn: Any  # a kernel, or another autotuner around one


class LaunchMetadata(Protocol):
    """The LazyDict of a launch, as hooks get it: what it says is made when first asked for."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What is there already."""

    def get(self) -> dict[str, object]:
        """`name`, `function`, `stream`, and what the kernel's launch_metadata function returned."""


class TimingEvent(Protocol):
    """A moment on a stream of the GPU."""

    def record(self) -> None: ...
    def query(self) -> bool: ...
    def elapsed_time(self, end: TimingEvent) -> float:
        """Milliseconds from this one to `end`."""


class Operation(Protocol):
    """An operation that was built, or a block of one."""

    def get_result(self, number: int) -> object:
        """A value it gives."""

    def get_then_block(self) -> object:
        """The first block of an `scf.if`."""


class Builder(Protocol):
    """Builds the IR of the kernel that is being compiled."""

    options: BuilderOptions

    def get_insertion_block(self) -> object: ...
    def get_insertion_point(self) -> object: ...
    def restore_insertion_point(self, point: object) -> None: ...
    def set_insertion_point_to_start(self, block: object) -> None: ...
    def get_loc(self) -> object: ...
    def set_loc(self, location: object) -> None: ...
    def get_int32(self, number: int) -> object: ...
    def get_int32_ty(self) -> object: ...
    def create_icmpNE(self, left: object, right: object) -> object: ...
    def create_if_op(self, types: list[object], condition: object, has_else: bool) -> Operation: ...
    def create_inline_asm(
        self,
        text: str,
        constraints: str,
        operands: list[object],
        types: list[object],
        is_pure: bool,
        pack: int,
    ) -> Operation: ...


class ValueType(Protocol):
    """The type of a value in a kernel."""

    primitive_bitwidth: int

    def is_int(self) -> bool: ...
    def is_ptr(self) -> bool: ...
    def is_floating(self) -> bool: ...
    def is_uint32(self) -> bool: ...


class Value(Protocol):
    """A value in the kernel that is being compiled."""

    type: ValueType
    handle: object


class Semantic(Protocol):
    """What compiles a kernel: Triton's or Gluon's."""

    builder: Builder

    def to_tensor(self, value: object) -> Value: ...
    def cast(self, value: Value, type_: object) -> Value: ...
    def bitcast(self, value: Value, type_: object) -> Value: ...
