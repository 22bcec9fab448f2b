"""Hears from inductor what its kernels are made of, while sessions are open."""

from __future__ import annotations

import functools
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from types import ModuleType
from typing import Any

from proton import _torch
from proton._triton.compiler import wrap_function
from proton._triton.types import Wrapped
from proton.model.origins import KernelOrigins, merge_origins
from proton.runtime.origins.graph_nodes import lines_of_schedule
from proton.runtime.origins.side_file import (
    NotedKernel,
    origins_of,
    read_side_file,
    write_side_file,
)
from proton.runtime.origins.wrapper_text import EXTERN, launches_in, read_wrapper

Warn = Callable[[str], None]

MOST_KERNELS = 4096  # in a file
_MOST_PENDING = 65536  # of a graph whose code is not loaded yet
_DEBUG, _CACHE = _torch.ORIGIN_MODULES
# Called at each launch that is generated, with nodes, the kernel's name and `is_extern`.
_NOTE = "set_kernel_post_grad_provenance_tracing"
_LOAD = "load_by_key_path"  # (key, path, linemap): the linemap only with a wrapper


class OriginsWatch:
    """Knows the kernels of every wrapper that the process has loaded. There is one."""

    def __init__(self) -> None:
        self._recording: list[Warn] = []
        self._undo: list[Callable[[], None]] = []
        self._stop_waiting: Callable[[], None] = lambda: None
        self._known: dict[str, Sequence[KernelOrigins]] = {}  # by wrapper
        # Equal graphs of several functions share a wrapper, which knows the lines of one of them.
        self._loads = Counter[str]()
        self._pending = _Pending()

    def add(self, warn: Warn) -> None:
        """Listen from now on; `warn` hears of what cannot be known."""
        self._recording.append(warn)
        if len(self._recording) == 1:
            self._stop_waiting = _torch.when_origins_imported(self._install)

    def remove(self, warn: Warn) -> None:
        """Forget one who records; with the last one inductor is as it was. Harmless when late."""
        if warn in self._recording:
            self._recording.remove(warn)
        if self._recording:
            return
        self._stop_waiting()
        while self._undo:
            self._undo.pop()()

    def find(self, names: Collection[str], *, with_calls: bool) -> Sequence[KernelOrigins]:
        """The origins of kernels of these names; `with_calls` adds those of calls to libraries."""
        self._read_loaded()
        wanted = (
            replace(each, is_partial=True) if self._loads[each.wrapper] > 1 else each
            for kernels in list(self._known.values())  # another thread may compile
            for each in kernels
            if (with_calls if each.wrapper_line else each.kernel in names)
        )
        return list(islice(wanted, MOST_KERNELS))

    @property
    def is_needed(self) -> bool:
        """Whether the process has loaded what torch.compile generates."""
        return _CACHE in sys.modules

    def _install(self, module: ModuleType) -> None:
        if module.__name__ == _CACHE:
            cache = getattr(module, "PyCodeCache", None)
            if isinstance(cache, type) and isinstance(vars(cache).get(_LOAD), classmethod):
                self._undo.append(wrap_function(cache, _LOAD, self._make_load))
                return
        elif callable(vars(module).get(_NOTE)):
            self._undo.append(_replace_everywhere(module, self._make_note))
            return
        self._warn(
            f"torch {_torch.version()} has no {_NOTE if module.__name__ == _DEBUG else _LOAD}"
        )

    def _warn(self, why: str) -> None:
        for warn in tuple(self._recording):
            warn(f"not every line that kernels of torch.compile come from is known: {why}")

    def _make_note(self, original: Wrapped) -> Wrapped:
        @functools.wraps(original)
        def note(*args: Any, **kwargs: Any) -> object:
            if self._recording:
                self._note(*args, **kwargs)
            return original(*args, **kwargs)

        return note

    def _note(
        self,
        node_schedule: Any,
        kernel_name: Any = None,
        is_extern: bool = False,
        *_: Any,
        **__: Any,
    ) -> None:
        if not isinstance(kernel_name, str) or len(self._pending.kernels) >= _MOST_PENDING:
            return
        try:
            lines = lines_of_schedule(node_schedule, is_extern=is_extern)
        except (AttributeError, TypeError) as error:  # torch's own objects: a compile must not fail
            self._warn(f"torch {_torch.version()}: {type(error).__name__}: {error}")
            return
        self._pending.kernels.append(NotedKernel(kernel_name, is_extern, lines))

    def _make_load(self, original: Any) -> Any:
        @functools.wraps(original.__func__)
        def load(cls: Any, key: str, path: str, *args: Any, **kwargs: Any) -> object:
            is_wrapper = (args[0] if args else kwargs.get("linemap")) is not None
            if self._recording and is_wrapper:
                noted, self._pending.kernels = self._pending.kernels, []
                if noted:
                    self._keep(path, noted)
                self._loads[path] += 1
            return original.__func__(cls, key, path, *args, **kwargs)

        return classmethod(load)

    def _keep(self, path: str, noted: Sequence[NotedKernel]) -> None:
        text = _read(path)
        kernels = merge_origins([list(_placed(noted, path, text))])
        if not kernels:  # then the lines of launches are better than nothing
            return
        self._known[path] = kernels
        texts = {
            (line.origin.file, line.origin.line): line.text for each in noted for line in each.lines
        }
        try:
            write_side_file(path, kernels, texts)
        except OSError as error:
            # Without the path: equal warnings are kept once.
            self._warn(
                "later processes find no side files in torch's cache, as none can be written: "
                f"{error.strerror or error}"
            )

    def _read_loaded(self) -> None:
        """Take in the wrappers of caches, and those that were loaded before the session."""
        cache = getattr(sys.modules.get(_CACHE), "PyCodeCache", None)
        for path, line_map in list(getattr(cache, "linemaps", {}).items()):
            if path in self._known or len(line_map) != 2:  # kernels' own files have none
                continue
            kept = read_side_file(path)
            self._known[path] = read_wrapper(path, _read(path), line_map) if kept is None else kept


class _Pending(threading.local):
    """What inductor told of the graph that this thread compiles."""

    def __init__(self) -> None:
        self.kernels: list[NotedKernel] = []


def _placed(noted: Sequence[NotedKernel], path: str, text: str) -> Iterator[KernelOrigins]:
    """Calls to libraries get their lines by order, if the file has as many as were noted."""
    calls: dict[str, list[int]] = defaultdict(list)
    for launch in launches_in(text):
        calls[launch.name].append(launch.line)
    numbers = {name: iter(lines) for name, lines in calls.items()}
    counts = Counter(each.name for each in noted)
    for each in noted:
        if each.name not in text:  # of another graph, whose compile failed
            continue
        if not each.name.startswith(EXTERN):
            yield origins_of(each, path, 0)
        elif counts[each.name] == len(calls[each.name]):
            yield origins_of(each, path, next(numbers[each.name]))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # the program may clear its cache
        return ""


def _replace_everywhere(
    module: ModuleType, make: Callable[[Wrapped], Wrapped]
) -> Callable[[], None]:
    """Wrap the function in its module and in those that have imported it by name."""
    original = vars(module)[_NOTE]
    ours = make(original)
    _exchange(original, ours)
    return lambda: _exchange(ours, original)  # also where it was imported meanwhile


def _exchange(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("torch._inductor") and vars(module).get(_NOTE) is old:
            setattr(module, _NOTE, new)


origins_watch = OriginsWatch()
