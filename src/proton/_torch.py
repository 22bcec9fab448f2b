"""The only module that touches torch, and only where the program has imported it already."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import CodeType, ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

from proton._import_watch import ImportWatch

_KERNEL_COMPILER = "torch._inductor.async_compile"
_watch = ImportWatch(_KERNEL_COMPILER)
_torch_watch = ImportWatch("torch")
_T = TypeVar("_T")


def is_imported() -> bool:
    """Whether the program has imported torch."""
    return hasattr(sys.modules.get("torch"), "Tensor")


def version() -> str | None:
    """The version of the torch that is imported; None where none is."""
    module = sys.modules.get("torch")
    return str(module.__version__) if module is not None and hasattr(module, "Tensor") else None


def when_imported(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` once the program has imported torch: now, or later; what takes it back."""
    module = sys.modules.get("torch")
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        callback()
        return lambda: None
    return _torch_watch.add(callback)


def module_call() -> CodeType | None:
    """The code that runs whenever a module is called, with the module as its first argument."""
    kind = getattr(getattr(sys.modules["torch"], "nn", None), "Module", None)
    for name in ("_wrapped_call_impl", "_call_impl"):
        code = getattr(getattr(kind, name, None), "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


class ObserverOpening(Protocol):
    """The core's observer of torch while its fields are looked for, as `_native` has it."""

    def __init__(self, path: str) -> None: ...
    def watch_numbers(self) -> None: ...
    def watch_node(self, forward_thread: int, number: int) -> None: ...
    def stop(self) -> None: ...
    def thread_id(self) -> int: ...
    def attach(self) -> None: ...


_KNOWN_CALLS = 16
_KNOWN_THREADS = 3


def open_observer(opening: type[ObserverOpening]) -> None:
    """Open the core's observer, with calls of operators whose numbers are known.

    Raises:
        BackendUnavailable: torch lacks what is needed, or its layout is not certain.
        RuntimeError: torch refused one of the calls.
    """
    torch = sys.modules["torch"]
    folder = os.path.dirname(str(getattr(torch, "__file__", "")))
    observer = opening(os.path.join(folder, "lib", "libtorch_cpu.so"))
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.autocast("cpu", enabled=False),
    ):
        numbers = torch.ones(4, device="cpu", dtype=torch.float32, requires_grad=True)
        observer.watch_numbers()
        try:
            for _ in range(_KNOWN_CALLS):
                product = numbers * numbers
                product.detach().add_(1)  # an operator without a number between
        finally:
            observer.stop()
        for _ in range(_KNOWN_THREADS):
            thread_id, product = _on_another_thread(
                lambda: (observer.thread_id(), numbers * numbers)
            )
            observer.watch_node(thread_id, product.grad_fn._sequence_nr())
            try:
                product.grad_fn(torch.ones_like(product))
            finally:
                observer.stop()
    observer.attach()


def _on_another_thread(work: Callable[[], _T]) -> _T:
    """What `work` returns on a thread of its own."""
    results: list[_T] = []
    thread = threading.Thread(target=lambda: results.append(work()), name="proton calibration")
    thread.start()
    thread.join()
    if not results:
        raise RuntimeError("an operator failed on another thread")
    return results[0]


def is_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor; imports nothing."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, getattr(module, "Tensor", ()))


def device_type(tensor: Any) -> str:
    """Where a tensor lives: 'cpu', 'cuda', 'meta', ..."""
    return str(tensor.device.type)


def is_profiling() -> bool:
    """Whether torch.profiler is recording in this process; imports nothing."""
    module = sys.modules.get("torch")
    enabled = getattr(getattr(module, "autograd", None), "_profiler_enabled", None)
    return bool(enabled and enabled())


def is_on_cuda(tensor: Any) -> bool:
    """Whether the tensor's numbers lie in the memory of an NVIDIA GPU."""
    return device_type(tensor) == "cuda" and sys.modules["torch"].version.cuda is not None


def kernel_compiler() -> type:
    """What torch.compile has its kernels from, once it is imported: by its method `triton`."""
    kind: type = sys.modules[_KERNEL_COMPILER].AsyncCompile
    return kind


def when_kernel_compiler_imported(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` once the program has imported that: now, or later; what takes it back."""
    if hasattr(sys.modules.get(_KERNEL_COMPILER), "AsyncCompile"):
        callback()
        return lambda: None
    return _watch.add(callback)


# Where torch.compile times what it chooses kernels from: benchmarkers, and Triton kernels.
AUTOTUNING_MODULES = (
    "torch._inductor.runtime.benchmarking",
    "torch._inductor.runtime.triton_heuristics",
)
# Where it says which nodes of the graph a kernel is made of, and loads the code that it wrote.
ORIGIN_MODULES = ("torch._inductor.debug", "torch._inductor.codecache")
_autotuning_watches = {name: ImportWatch(name) for name in AUTOTUNING_MODULES}
_origin_watches = {name: ImportWatch(name) for name in ORIGIN_MODULES}


def _call_with_module(callback: Callable[[ModuleType], None], name: str) -> None:
    callback(sys.modules[name])


def when_autotuning_imported(callback: Callable[[ModuleType], None]) -> Callable[[], None]:
    """Call `callback` with each of AUTOTUNING_MODULES once the program has imported it.

    Returns:
        A function that takes the callback back; calling it late or twice is harmless.
    """
    return _when_each_imported(_autotuning_watches, callback)


def when_origins_imported(callback: Callable[[ModuleType], None]) -> Callable[[], None]:
    """The same with each of ORIGIN_MODULES."""
    return _when_each_imported(_origin_watches, callback)


def _when_each_imported(
    watches: Mapping[str, ImportWatch], callback: Callable[[ModuleType], None]
) -> Callable[[], None]:
    waiting = []
    for name, watch in watches.items():
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            callback(module)
        else:
            waiting.append(watch.add(partial(_call_with_module, callback, name)))

    def cancel() -> None:
        for stop in waiting:
            stop()

    return cancel


# What a kernel that knows no torch can tell apart; the native core's numbers for them.
_ELEMENT_KINDS = {
    "torch.uint8": 0,
    "torch.bool": 0,
    "torch.int8": 1,
    "torch.int16": 2,
    "torch.uint16": 3,
    "torch.int32": 4,
    "torch.uint32": 5,
    "torch.int64": 6,
    "torch.uint64": 7,
    "torch.float16": 8,
    "torch.bfloat16": 9,
    "torch.float32": 10,
    "torch.float64": 11,
}


class Elements(NamedTuple):
    """A tensor as a kernel sees it: `length` numbers, `stride_bytes` apart."""

    address: int
    kind: int
    length: int
    stride_bytes: int
    is_scalar: bool
    device: int


def elements(tensor: Any) -> Elements | None:
    """Where the numbers of a CUDA tensor lie; None: of a type or a layout that cannot be told."""
    kind = _ELEMENT_KINDS.get(str(tensor.dtype))
    if kind is None or str(tensor.layout) != "torch.strided":
        return None
    stride = 1
    if tensor.dim() == 1:
        stride = tensor.stride(0)
    elif tensor.dim() > 1 and tensor.numel() > 1 and not tensor.is_contiguous():
        return None
    return Elements(
        tensor.data_ptr(),
        kind,
        tensor.numel(),
        stride * tensor.element_size(),
        tensor.numel() == 1,
        int(tensor.device.index or 0),
    )


def current_stream(device: int) -> int:
    """The handle of the CUDA stream that the calling thread works on."""
    return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)


def zeroed_buffer(size: int, alignment: int) -> Any:
    """`size` bytes of the current GPU's memory, all zero, at a multiple of `alignment`."""
    torch = sys.modules["torch"]
    raw = torch.zeros(size + alignment, dtype=torch.uint8, device="cuda")
    return raw[-raw.data_ptr() % alignment :][:size]


def side_stream() -> AbstractContextManager[Any]:
    """Work on another CUDA stream than the default one meanwhile: only such work is captured."""
    cuda = sys.modules["torch"].cuda
    context: AbstractContextManager[Any] = cuda.stream(cuda.Stream())
    return context


def capture_graph(work: Callable[[], None]) -> Callable[[], None]:
    """Capture what `work` launches on the current stream into a CUDA graph; what replays it."""
    cuda = sys.modules["torch"].cuda
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        work()
    cuda.synchronize()
    replay: Callable[[], None] = graph.replay
    return replay


def synchronize() -> None:
    """Wait for the current GPU."""
    sys.modules["torch"].cuda.synchronize()


def bytes_of(tensor: Any) -> bytes:
    """A copy of a tensor's memory."""
    return bytes(tensor.cpu().numpy().tobytes())
