"""The stream of single operations of interpreted kernels, for clients such as a visualizer.

Contract. `subscribe` a `Client`; it then hears, on the launching thread, of every launch that
begins after, while a session with the interpreter backend is open (active or not):

1. `on_kernel_begin` once: name, source, grid, arguments.
2. `on_program_begin` for every program of the grid.
3. `on_access` **before** a load, store or atomic touches memory: which argument, which byte
   offsets, which lanes. A client that raises stops the kernel there (KernelError, with the client's
   error as its cause): how a sanitizer keeps a wild pointer from being followed.
4. `on_operation` after every operation, accesses included: name, source line, operands, result.
   Names are those of Triton's IR builder without `create_` (`fadd`, `icmpSLT`, `dot`, `splat`),
   and `load`, `store`, `reduce`, `scan`. An operation made of others is reported once, whole.
5. `on_kernel_end` once, with the error where there was one.

Arrays are the interpreter's own and may change after the call returns: copy what you keep, change
nothing. Nothing is copied or computed for a client that does not ask. With no client subscribed
none of this runs: launches use a builder without the hooks.

Example:
    >>> class Loads(Client):
    ...     def on_access(self, access):
    ...         if not access.in_bounds().all():
    ...             raise IndexError(f"{access.location}: {access.argument.name} out of bounds")
    >>> subscribe(loads := Loads())
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from proton.backends.interpreter.arguments import Argument

Array = npt.NDArray[Any]
ProgramId = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Location:
    """The user's line that did it: innermost frame outside Triton, numpy and proton."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch: `arguments` are its tensors, `scalars` all else by name (constexprs included)."""

    name: str
    file: str
    line: int
    grid: ProgramId
    arguments: tuple[Argument, ...]
    scalars: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Value:
    """An operand or result: Triton's type name (`fp32`, `pointer<fp32>`) and the array behind it.

    bf16 is kept as uint16 and fp8 as uint8, as bit patterns.
    """

    type_name: str
    data: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The block's shape; scalars have (1,)."""
        return self.data.shape


@dataclass(frozen=True, slots=True)
class Access:
    """Memory that an operation is about to touch, one address per lane.

    `argument` is the tensor the pointers came from, by provenance where it is known, else by
    address; None where neither says (a pointer loaded from memory, or lanes of several tensors).
    """

    kind: str  # "load", "store", "atomic_rmw", "atomic_cas"
    program_id: ProgramId
    location: Location
    argument: Argument | None
    addresses: Array  # uint64
    mask: Array  # bool, of the same shape; False: the lane touches nothing
    itemsize: int
    stored: Value | None  # what a store or atomic brings along

    def offsets(self) -> Array:
        """Byte offsets from the argument's first element; negative where before it."""
        if self.argument is None:
            raise ValueError("an access without an argument has no offsets")
        return (self.addresses - np.uint64(self.argument.address)).astype(np.int64)

    def in_bounds(self) -> npt.NDArray[np.bool_]:
        """Per lane: masked off, or wholly inside the argument's memory. Unknown counts as in."""
        if self.argument is None:
            return np.ones(self.addresses.shape, dtype=np.bool_)
        low, high = np.uint64(self.argument.low), np.uint64(self.argument.high)
        inside = (self.addresses >= low) & (self.addresses + np.uint64(self.itemsize) <= high)
        return inside | ~self.mask

    def coordinates(self) -> tuple[Array, ...]:
        """Per dimension of the argument the index of every lane (rubbish for lanes outside)."""
        if self.argument is None:
            raise ValueError("an access without an argument has no coordinates")
        rest = self.offsets() // self.argument.itemsize
        steps = self.argument.strides
        indices: list[Array] = [np.zeros_like(rest)] * len(steps)
        for dimension in sorted(range(len(steps)), key=lambda d: -abs(steps[d])):
            if steps[dimension]:
                indices[dimension] = rest // steps[dimension]
                rest = rest - indices[dimension] * steps[dimension]
        return tuple(indices)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that was done. A load's values are its `result`."""

    name: str
    program_id: ProgramId
    location: Location
    operands: tuple[Value, ...]
    result: Value | None
    access: Access | None = None  # of loads, stores and atomics
    axis: int | None = None  # of reductions and scans


class Client:
    """What a subscriber may override; each does nothing here."""

    def on_kernel_begin(self, launch: KernelLaunch) -> None:
        """A launch begins."""

    def on_program_begin(self, program_id: ProgramId) -> None:
        """A program of the grid begins."""

    def on_access(self, access: Access) -> None:
        """Memory is about to be touched; raise to stop the kernel."""

    def on_operation(self, operation: Operation) -> None:
        """An operation was done."""

    def on_kernel_end(self, launch: KernelLaunch, error: BaseException | None) -> None:
        """The launch is over."""


# the clients as they are now; replaced as a whole, never changed
subscribers: tuple[Client, ...] = ()


def subscribe(client: Client) -> None:
    """Report launches that begin from now on to `client`; twice is once."""
    global subscribers
    if client not in subscribers:
        subscribers = (*subscribers, client)


def unsubscribe(client: Client) -> None:
    """Stop reporting to `client`; a launch under way is reported to its end."""
    global subscribers
    subscribers = tuple(other for other in subscribers if other is not client)
