"""Which loaded kernels record, and what the native recorder calls them. Any thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from proton import _native
from proton._triton import launch as _triton_launch
from proton._triton.types import LoadedKernel as TritonKernel
from proton.inkernel.compiler.compile_hook import KernelRecords, read_records
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.memory_counts import has_memory
from proton.inkernel.tool import Tool


class ProbeCost(NamedTuple):
    """What a record costs, in cycles.

    Attributes:
        cycles: That it adds where there is work around it; 0: not known.
        empty_cycles: Between two records with nothing between them.
        error_cycles: How far a passage may be off after both are taken off; None: not known.
    """

    cycles: float = 0.0
    empty_cycles: float = 0.0
    error_cycles: float | None = None


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel that records, as the driver has it."""

    number: int  # the recorder's
    name: str
    function: int
    records: KernelRecords
    cost: ProbeCost
    tools: tuple[Tool, ...] = ()  # that get its buffers, where its launch does not say which

    @property
    def has_memory(self) -> bool:
        """Whether it counts accesses to memory."""
        return has_memory(self.records.record_map)

    @property
    def has_mailbox(self) -> bool:
        """Whether it tells the host of full rings, which are in host memory then."""
        found = self.records.record_map
        return found.get("strategy") == "flush" and found.get("memory") == "global"

    @property
    def keeps_bytes(self) -> bool:
        """Whether its buffers are read by others than the recorder, too."""
        return bool(self.tools) or self.has_memory


class LoadedKernels:
    """The kernels that record, by their function in the driver.

    A thread that launches a kernel which another one has just loaded waits until it is known: what
    a record costs may have to be measured first.

    Args:
        cost_of: What a record of a kernel costs; asked when the kernel is loaded, with its context
            current.

    Attributes:
        has_mailbox: Whether one of them tells the host of full rings.
        keeps_bytes: Whether buffers of one are read by others than the recorder, too.
    """

    def __init__(self, cost_of: Callable[[KernelRecords], ProbeCost]) -> None:
        self._cost_of = cost_of
        self._lock = threading.RLock()  # measuring loads and launches a kernel, too
        self._by_function: dict[int, LoadedKernel | None] = {}  # None: it records nothing
        self._by_number: dict[int, LoadedKernel] = {}
        self._by_key: dict[str, LoadedKernel] = {}
        self.has_mailbox = False
        self.keeps_bytes = False

    def on_load(
        self, module: object, function: int, name: str, metadata_group: Mapping[str, str], key: str
    ) -> None:
        """Triton has loaded a kernel."""
        self._by_function.pop(function, None)  # the address may have been another kernel's
        with self._lock:
            self._add(function, name, key, _read_metadata(name, metadata_group))

    def find(self, function: int, launched: TritonKernel | None = None) -> LoadedKernel | None:
        """The kernel of a function; None where it does not record.

        Args:
            function: As the launch had it.
            launched: The `CompiledKernel` that was launched last on this thread, if any.
        """
        try:
            return self._by_function[function]
        except KeyError:
            pass
        with self._lock:
            if function not in self._by_function:  # loaded before anybody listened
                found = [each for each in (launched, *_triton_launch.loaded_kernels()) if each]
                kernel = next((each for each in found if each.function == function), None)
                if kernel is None:
                    self._by_function[function] = None
                else:
                    self._add(function, kernel.name, kernel.hash, kernel.metadata)
            return self._by_function[function]

    def of_number(self, number: int) -> LoadedKernel:
        """The kernel that the recorder knows by this number."""
        return self._by_number[number]

    def _add(self, function: int, name: str, key: str, metadata: object) -> None:
        """Get to know a kernel; `key` is Triton's of what was compiled."""
        records = read_records(metadata)
        if records is None:
            self._by_function[function] = None
            return
        cost, tools = self._cost_of(records), current_tools()
        # threads that compile a kernel at once load it twice, and it is one all the same
        twin = self._by_key.get(key)
        if twin is not None and (twin.records, twin.cost, twin.tools) == (records, cost, tools):
            self._by_function[function] = replace(twin, function=function)
            return
        number = _native.InKernel.add_kernel(
            name,
            scratch_bytes=records.scratch_bytes,
            record_map=records.record_map,
            record_cycles=cost.cycles,
            empty_cycles=cost.empty_cycles,
            keeps_bytes=bool(tools) or has_memory(records.record_map),
        )
        loaded = LoadedKernel(number, name, function, records, cost, tools)
        self._by_number[number] = self._by_function[function] = self._by_key[key] = loaded
        self.has_mailbox |= loaded.has_mailbox
        self.keeps_bytes |= loaded.keeps_bytes


def current_tools() -> tuple[Tool, ...]:
    """The tools of the mode that this thread's kernel is recorded in."""
    current = choice.current()
    parts = current.mode.parts if current is not None else ()
    return tuple(part for part in parts if isinstance(part, Tool))


def _read_metadata(name: str, group: Mapping[str, str]) -> Mapping[str, object]:
    """The metadata that Triton keeps beside a compiled kernel; empty where it is gone."""
    path = group.get(f"{name}.json") or next((p for p in group.values() if p.endswith(".json")), "")
    try:
        found = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
