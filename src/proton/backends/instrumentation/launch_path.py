"""Our places in Triton's launch path while a session records: the buffers, and who launched what.

A kernel that records asks for its buffer right before its launch, on the launching thread; behind
the launch Triton's exit hook says which kernel it was. Nothing here waits for the GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from proton import _native, _triton
from proton._triton import launch as _triton_launch
from proton._triton.types import LaunchMetadata, LoadedKernel
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.kept_buffers import LaunchNote
from proton.backends.instrumentation.loaded_kernels import LoadedKernels, current_tools
from proton.inkernel.memory_counts import tensor_ranges

MOST_NOTES = 4096  # of launches whose buffers have not been read
_NO_NOTE = LaunchNote()


class _LastLaunch(threading.local):
    kernel: LoadedKernel | None = None  # that it launched last
    arguments: tuple[object, ...] = ()  # of that launch, where somebody wants to know


class LaunchPath:
    """Taken by the first session that records, and given back by the last."""

    def __init__(self) -> None:
        self.kernels = LoadedKernels(calibration.cost_of)
        self._lock = threading.RLock()
        self._users = 0
        self._stop_waiting: Callable[[], None] = lambda: None
        self._undo: list[Callable[[], None]] = []
        self._exits: Any = None
        self._on_exit = self._exit  # one object: chains compare
        self._thread = _LastLaunch()
        self._notes: dict[int, LaunchNote] = {}  # of launches, the oldest first
        self._numbers = count(1)

    def enter(self) -> None:
        """Stand in the launch path, as soon as Triton is imported."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                try:
                    self._stop_waiting = _triton.when_imported(self._install)
                except BaseException:
                    self.leave()
                    raise

    def leave(self) -> None:
        """Undo one `enter`."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._stop_waiting()
                while self._undo:
                    self._undo.pop()()
                self._notes.clear()

    def forget(self) -> None:
        """`leave` in a forked child: locks and the numbers of kernels are the parent's."""
        self._lock = threading.RLock()
        self.leave()
        self.kernels = LoadedKernels(calibration.cost_of)

    def note_of(self, number: int) -> LaunchNote:
        """What was known of a launch; nothing where that is long ago."""
        return self._notes.get(number, _NO_NOTE)

    def _install(self) -> None:
        with self._lock:
            self._exits = _triton_launch.exit_hooks()
            on_load = self.kernels.on_load
            # undone from the last: who is given a buffer is asked about it
            self._undo = [lambda: self._set_exits(has_ours=False)]
            self._set_exits(has_ours=True)
            self._undo.append(lambda: _triton.remove_load_hook(on_load))
            _triton.add_load_hook(on_load)
            self._undo.append(_triton_launch.watch_launches(self._see))
            allocators = self._allocate, self._throw_away
            self._undo.append(_triton_launch.set_profile_allocator(*allocators))

    def _set_exits(self, *, has_ours: bool) -> None:
        """Be the first behind launches, while their metadata is there, or nowhere."""
        ours = self._on_exit
        others = [each for each in self._exits.calls if each is not ours]
        # a new list, as others may be walking the old one
        self._exits.calls = [*others, ours] if has_ours else others

    def _allocate(self, size: int, alignment: int, stream: int | None) -> int:
        """Triton's call for the buffer of the launch that this thread is about to make."""
        if size == 0:  # of no CTA: Triton calls its hooks and launches nothing
            return 0
        calls = self._exits.calls
        if (not calls or calls[-1] is not self._on_exit) and not self._be_called_first():
            return self._throw_away(size, alignment, stream)
        in_host_memory = self.kernels.has_mailbox and self._is_mailbox_next()
        return _native.InKernel.allocate(
            size, alignment, stream or 0, in_host_memory=in_host_memory
        )

    def _is_mailbox_next(self) -> bool:
        """Whether the kernel that this thread is about to launch tells the host of full rings."""
        function = getattr(self._thread.kernel, "function", None)
        if function is None:  # nobody said which: its buffer is not read
            return False
        kernel = self.kernels.find(function, self._thread.kernel)
        return kernel is not None and kernel.has_mailbox

    def _be_called_first(self) -> bool:
        """Somebody has come between; False: we have left."""
        with self._lock:
            if self._users == 0:
                return False
            self._set_exits(has_ours=True)
            return True

    @staticmethod
    def _throw_away(size: int, alignment: int, stream: int | None) -> int:
        """The same when nobody records: a program may have kept a kernel with records."""
        return _native.InKernel.allocate_scrap(size, alignment)

    def _see(self, kernel: LoadedKernel, arguments: tuple[object, ...]) -> None:
        """Triton is about to launch a kernel, which the driver has by now."""
        self._thread.kernel = kernel
        if self.kernels.keeps_bytes:
            self._thread.arguments = arguments

    def _exit(self, metadata: LaunchMetadata | None) -> None:
        """Triton's call behind a launch."""
        arguments: tuple[object, ...] = ()
        if self.kernels.keeps_bytes:  # no tensor lives longer for having been launched with
            arguments, self._thread.arguments = self._thread.arguments, ()
        if not _native.InKernel.has_buffer():
            return
        kernel = None  # whoever launched it may say nothing
        if metadata is not None:
            kernel = self.kernels.find(metadata.data["function"], self._thread.kernel)
        if kernel is None:
            _native.InKernel.unread()
        else:
            note = self._take_note(kernel.function, arguments) if kernel.keeps_bytes else 0
            _native.InKernel.launched(kernel.number, note)

    def _take_note(self, function: int, arguments: tuple[object, ...]) -> int:
        """Keep what the launch's arguments were, and whose tools it is recorded with; its number.

        0: there is nothing to keep.
        """
        kernel = self._thread.kernel
        tools = current_tools()  # an equal one may have been there when the kernel was loaded
        if kernel is not None and arguments and kernel.function == function:
            names = getattr(getattr(kernel.src, "fn", None), "arg_names", ())
            ranges = tensor_ranges(names, arguments)
            note = LaunchNote(ranges, tools)
        elif tools:
            note = LaunchNote(tools=tools)
        else:
            return 0
        number = next(self._numbers)
        with self._lock:  # others note theirs, or leave, while the oldest is looked for
            self._notes[number] = note
            while len(self._notes) > MOST_NOTES:
                del self._notes[next(iter(self._notes))]
        return number


launches = LaunchPath()
