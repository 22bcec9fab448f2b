"""CUDA graphs by the driver's own calls, for tests of what torch does not offer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
CONDITIONAL = 13  # CU_GRAPH_NODE_TYPE_CONDITIONAL
ASSIGN_DEFAULT = 1  # CU_GRAPH_COND_ASSIGN_DEFAULT


class _ConditionalParams(ctypes.Structure):
    """CUgraphNodeParams with its conditional part."""

    _fields_ = (
        ("type", c_int),
        ("reserved", c_int * 3),
        ("handle", c_uint64),
        ("kind", c_int),
        ("size", c_uint32),
        ("bodies", POINTER(c_void_p)),
        ("context", c_void_p),
        ("rest", c_uint64 * 25),
        ("last", c_uint64),
    )


class _UpdateResult(ctypes.Structure):
    _fields_ = (("result", c_int), ("node", c_void_p), ("from_node", c_void_p))


class RawGraphs:
    """Graphs captured on one stream of torch's. Handles are ctypes' void pointers."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._stream = torch.cuda.Stream()
        self._handle = c_void_p(self._stream.cuda_stream)

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self._cuda, name)(*arguments)
        assert result == 0, f"{name} failed with CUDA error {result}"

    def capture(self, work: Callable[[], object], into: c_void_p | None = None) -> c_void_p:
        """Capture what `work` launches, into a graph that is there or a new one."""
        if into is None:
            self._call("cuStreamBeginCapture_v2", self._handle, RELAXED)
        else:
            self._call(
                "cuStreamBeginCaptureToGraph", self._handle, into, None, None, c_size_t(0), RELAXED
            )
        with self._torch.cuda.stream(self._stream):
            work()
        graph = c_void_p()
        self._call("cuStreamEndCapture", self._handle, byref(graph))
        return graph

    def create(self) -> c_void_p:
        """An empty graph."""
        graph = c_void_p()
        self._call("cuGraphCreate", byref(graph), 0)
        return graph

    def clone(self, graph: c_void_p) -> c_void_p:
        """A copy of a graph."""
        copy = c_void_p()
        self._call("cuGraphClone", byref(copy), graph)
        return copy

    def add_child(self, graph: c_void_p, child: c_void_p) -> None:
        """Add a node that runs a copy of `child`."""
        node = c_void_p()
        self._call("cuGraphAddChildGraphNode", byref(node), graph, None, c_size_t(0), child)

    def add_if(self, graph: c_void_p, value: int) -> c_void_p:
        """Add a conditional node that is taken if `value` is 1; its body."""
        context, handle = c_void_p(), c_uint64()
        self._call("cuCtxGetCurrent", byref(context))
        self._call(
            "cuGraphConditionalHandleCreate", byref(handle), graph, context, value, ASSIGN_DEFAULT
        )
        params = _ConditionalParams(type=CONDITIONAL, handle=handle.value, size=1, context=context)
        node = c_void_p()
        self._call("cuGraphAddNode_v2", byref(node), graph, None, None, c_size_t(0), byref(params))
        return c_void_p(params.bodies[0])

    def instantiate(self, graph: c_void_p) -> c_void_p:
        """An executable graph."""
        executable = c_void_p()
        self._call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
        return executable

    def update(self, executable: c_void_p, graph: c_void_p) -> None:
        """Let an executable run what another graph of the same shape says."""
        result = _UpdateResult()
        self._call("cuGraphExecUpdate_v2", executable, graph, byref(result))

    def replay(self, executable: c_void_p, times: int = 1) -> None:
        """Launch it."""
        for _ in range(times):
            self._call("cuGraphLaunch", executable, self._handle)

    def destroy(self, *graphs: c_void_p) -> None:
        """Destroy graphs, not executables."""
        for graph in graphs:
            self._call("cuGraphDestroy", graph)

    def destroy_executable(self, executable: c_void_p) -> None:
        """Destroy an executable graph, even while it runs."""
        self._call("cuGraphExecDestroy", executable)
