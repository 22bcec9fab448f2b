"""What torch.compile runs to choose its kernels, told apart from the program: below `<autotune>`.

Inductor times candidates by its benchmarkers, and its Triton kernels by `CachingAutotuner`, which
also copies the arguments that they change. Their methods run in the scope that Triton's own
autotuner has while somebody records. Imports no torch.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from types import ModuleType

from proton import _native, _torch
from proton._triton.compiler import wrap_function
from proton._triton.types import Wrapped
from proton.backends.common.autotune_record import SCOPE_NAME

Warn = Callable[[str], None]

# class -> its methods that run candidates; the first of them must be there
_METHODS = {
    "Benchmarker": ("benchmark_gpu", "benchmark", "benchmark_gpu_with_cuda_graph"),
    "CachingAutotuner": (
        "bench",
        "benchmark_all_configs",
        "autotune_to_one_config",
        "coordinate_descent_tuning",
    ),
}
# module -> the class that it is known for
_CLASSES = dict(zip(_torch.AUTOTUNING_MODULES, _METHODS, strict=True))


class InductorWatch:
    """Stands in inductor's classes while somebody records. There is one: `inductor_watch`."""

    def __init__(self) -> None:
        self._recording: list[Warn] = []
        self._undo: list[Callable[[], None]] = []
        self._stop_waiting: Callable[[], None] = lambda: None
        self._missing: dict[str, str] = {}  # module -> what it lacks
        self._is_inside = _ThreadState()

    def add(self, warn: Warn) -> None:
        """Tell candidates apart from now on; `warn` hears of what cannot be."""
        self._recording.append(warn)
        for text in self._missing.values():
            warn(text)
        if len(self._recording) == 1:
            self._stop_waiting = _torch.when_autotuning_imported(self._install)

    def remove(self, warn: Warn) -> None:
        """Forget one who records; with the last one inductor's methods are back in their places."""
        if warn in self._recording:
            self._recording.remove(warn)
        if self._recording:
            return
        self._stop_waiting()
        while self._undo:
            self._undo.pop()()
        self._missing.clear()

    def _install(self, module: ModuleType) -> None:
        wanted = _CLASSES[module.__name__]
        first, *_ = methods = _METHODS[wanted]
        base = getattr(module, wanted, None)
        if not isinstance(base, type) or not callable(getattr(base, first, None)):
            self._miss(module.__name__, f"{module.__name__}.{wanted}.{first}")
            return
        for kind in _kinds(module, base):
            for name in methods:
                if callable(vars(kind).get(name)):
                    self._undo.append(wrap_function(kind, name, self._make))

    def _miss(self, module: str, name: str) -> None:
        text = (
            f"what torch.compile runs to choose kernels is not told apart from the program: torch "
            f"{_torch.version()} has no {name}"
        )
        self._missing[module] = text
        for warn in tuple(self._recording):
            warn(text)

    def _make(self, original: Wrapped) -> Wrapped:
        inside, recording = self._is_inside, self._recording

        @functools.wraps(original)  # inductor asks for their arguments
        def run(*args: object, **kwargs: object) -> object:
            if inside.is_set or not recording:  # they call one another
                return original(*args, **kwargs)
            inside.is_set = True
            try:
                with _native.Scope(SCOPE_NAME):
                    return original(*args, **kwargs)
            finally:
                inside.is_set = False

        return run


class _ThreadState(threading.local):
    is_set: bool = False


def _kinds(module: ModuleType, base: type) -> Iterator[type]:
    """The class and those of the module that derive from it."""
    kinds = [each for each in vars(module).values() if isinstance(each, type)]
    yield from dict.fromkeys(kind for kind in kinds if issubclass(kind, base))


inductor_watch = InductorWatch()
