"""What a record costs on this machine: measured once for each device, and kept in a file.

A kernel passes through empty regions, records back to back: each waits until the store of the one
before has read its registers. Where there is work between records, that hides the wait: the same
kernel passes through a region with some work and one with twice as much, and what the second takes
less than twice the first is what a record adds. Both depend on the device, the driver, Triton, and
on how records are stored.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proton import _native, _triton
from proton._triton import launch as _triton_launch
from proton.backends.instrumentation.loaded_kernels import ProbeCost
from proton.inkernel.compiler.compile_hook import KernelRecords
from proton.inkernel.modes.instrumentation_mode import Optimize
from proton.inkernel.modes.mode_table import Default

LAUNCHES = 5
LIMIT_S = 10.0
KERNEL = "known_regions"
_FOLDER = "PROTON_CACHE_DIR"
_VERSION = 3  # of the file's entries; raised when records are made another way

_log = logging.getLogger("proton")
_lock = threading.RLock()
_known: dict[str, ProbeCost] = {}
_is_measuring = False


def cost_of(records: KernelRecords) -> ProbeCost:
    """What a record of such a kernel costs on the calling thread's device; never fails.

    Known from an earlier process, or measured now, which takes a second; nothing where that does
    not work out, with the reason in the log.
    """
    global _is_measuring
    with _lock:
        if _is_measuring or not records.record_map.get("static_records"):
            return ProbeCost()
        try:
            key = make_key(records, *_native.InKernel.describe_device())
            if key in _known:
                return _known[key]
            cost = read_costs(cache_file()).get(key)
            if cost is None:
                _is_measuring = True
                try:
                    cost = measure(records)
                finally:
                    _is_measuring = False
                write_cost(cache_file(), key, cost)
        except Exception as error:  # of Triton's compiler, too: never the end of a launch
            _log.warning("the cost of records is not known, and not taken off: %s", error)
            return ProbeCost()
        _known[key] = cost
        return cost


def make_key(records: KernelRecords, device: str, driver: int) -> str:
    """What the cost depends on, as text."""
    storage, record_map = storage_of(records), records.record_map
    facts = (
        f"v{_VERSION}",
        device,
        f"driver {driver}",
        f"Triton {_triton.version()}",
        str(storage),
        f"clock of {record_map.get('clock_bits')} bits",
    )
    return ", ".join(facts)


def storage_of(records: KernelRecords) -> Default:
    """A mode that stores its records as the kernel does, whatever that records."""
    return Default(
        buffer_strategy=records.record_map["strategy"],
        buffer_type=records.record_map["memory"],
        optimizations=tuple(map(Optimize, records.optimizations)),
    )


def measure(records: KernelRecords) -> ProbeCost:
    """Run the kernel of known regions, recorded as `records` are.

    Raises:
        ProtonError, RuntimeError: it could not be compiled or run, or recorded nothing.
    """
    from proton.backends.instrumentation.calibration_kernel import ARGUMENTS, chosen_kernel

    if _native.InKernel.is_capturing(_triton_launch.current_stream()):
        raise RuntimeError("a graph is being captured; launch a kernel before that")
    with chosen_kernel(storage_of(records)) as kernel, _own_session() as session:
        for _ in range(LAUNCHES):
            kernel[(1,)](*ARGUMENTS, num_warps=4)
        if not _native.InKernel.flush(LIMIT_S):
            raise RuntimeError(f"the kernel {KERNEL!r} did not end within {LIMIT_S:.0f} s")
        return cost_in(_native.InKernel.sums(session, 0))


def cost_in(sums: list[dict[str, Any]]) -> ProbeCost:
    """The cost that launches of the kernel of known regions show.

    The work is the same in every passage: its shortest one has waited for nothing else.

    Raises:
        RuntimeError: there was none, or it did not record its regions, or not as they are.
    """
    passages = {
        region["region"]: region for each in sums for region in each["regions"] if region["count"]
    }
    if len(passages) != 3:
        raise RuntimeError(f"the kernel {KERNEL!r} recorded {len(passages)} of its 3 regions")
    empty, once, twice = (passages[at] for at in sorted(passages))
    cycles = float(2 * once["min"] - twice["min"])
    if not 0 < cycles <= once["min"]:
        raise RuntimeError(
            f"work took {once['min']:.0f} cycles with a record, and twice as much of it "
            f"{twice['min']:.0f}"
        )
    waits = max(0.0, empty["p50"] - cycles)
    spread = max(empty["p90"] - empty["p50"], empty["p50"] - empty["p10"])
    error = max(cycles, waits) + spread
    return ProbeCost(round(cycles, 2), round(empty["p50"], 2), round(error, 2))


@contextmanager
def _own_session() -> Iterator[_native.Session]:
    """A session that alone is told of what this thread launches."""
    session = _native.Session(-1, context="shadow", data="tree")
    _native.InKernel.start(session)
    session.activate()
    _native.InKernel.set_only(session)
    try:
        yield session
    finally:
        _native.InKernel.set_only(None)
        _native.InKernel.stop(session)
        session.deactivate()
        session.close()


def cache_file() -> Path:
    """Where costs are kept: PROTON_CACHE_DIR, or the user's folder for caches."""
    folder = os.environ.get(_FOLDER)
    if not folder:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = str(Path(home, "proton"))
    return Path(folder, "record_costs.json")


def read_costs(path: Path) -> dict[str, ProbeCost]:
    """What the file knows; nothing where there is none, or where it is damaged."""
    try:
        found = json.loads(path.read_bytes())
        return {
            key: ProbeCost(float(cycles), float(empty), float(error))
            for key, (cycles, empty, error) in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_cost(path: Path, key: str, cost: ProbeCost) -> None:
    """Add to the file; a folder that cannot be written to is no harm."""
    costs = read_costs(path) | {key: cost}
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(costs), encoding="utf-8")
        partial.replace(path)
