"""Our places in Triton's launch path while a session records: the buffers, and who launched what.

A kernel that records asks for its buffer right before its launch, on the launching thread; behind
the launch Triton's exit hook says which kernel it was. Nothing here waits for the GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from proton import _native, _triton, _triton_launch
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.kernels import Kernels


class Launches:
    """Taken by the first session that records, and given back by the last."""

    def __init__(self) -> None:
        self.kernels = Kernels(calibration.cost_of)
        self._lock = threading.RLock()
        self._users = 0
        self._stop_waiting: Callable[[], None] = lambda: None
        self._undo: list[Callable[[], None]] = []
        self._exits: Any = None
        self._on_exit = self._exit  # one object: chains compare

    def enter(self) -> None:
        """Stand in the launch path, as soon as Triton is imported."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._stop_waiting = _triton.when_imported(self._install)

    def leave(self) -> None:
        """Undo one `enter`."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._stop_waiting()
                while self._undo:
                    self._undo.pop()()

    def _install(self) -> None:
        with self._lock:
            self._exits = _triton_launch.exit_hooks()
            self._exits.add(self._on_exit)
            on_load = self.kernels.on_load
            _triton.add_load_hook(on_load)
            self._undo = [
                _triton_launch.set_profile_allocator(self._allocate),
                lambda: _triton.remove_load_hook(on_load),
                lambda: self._exits.remove(self._on_exit),
            ]

    def _allocate(self, size: int, alignment: int, stream: int | None) -> int:
        """Triton's call for the buffer of the launch that this thread is about to make."""
        calls = self._exits.calls
        if calls[-1] is not self._on_exit:
            # called first behind the launch, while its metadata still stands; a new list, as others
            # may be walking the old one
            ours = self._on_exit
            self._exits.calls = [*(each for each in calls if each is not ours), ours]
        return _native.InKernel.allocate(
            size, alignment, stream or 0, in_host_memory=self.kernels.has_mailbox
        )

    def _exit(self, metadata: Any) -> None:
        """Triton's call behind a launch."""
        if not _native.InKernel.has_buffer():
            return
        kernel = self.kernels.find(metadata.data["function"])
        if kernel is not None:
            _native.InKernel.launched(kernel.number)


launches = Launches()
