"""What the native core writes, read with plain json and msgpack."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack
import pytest

from proton import _native
from proton.files.detect import open_profile
from tests.support.perfetto import packets_of
from tests.support.profiles import tree_in

HEADER = {"session": "run", "command": ["a.py", "--x"], "triton": None, "start_time_ns": 2**62}
KERNEL: dict[str, Any] = {"device_type": "CUDA", "device_id": 0}


@contextmanager
def recording(data: str = "tree") -> Iterator[_native.Session]:
    session = _native.Session(0, context="shadow", data=data)
    session.activate()
    try:
        yield session
    finally:
        session.close()


def record_everything(session: _native.Session) -> None:
    """A bit of everything that can stand in a file."""
    with _native.Scope("outer", {"flops": 3, "x (exc)": 0.1, "list": [1, 2.5], "last (pty)": -7}):
        session.on_kernel('k<"int">', 1_000, 3_500, lane=7, metrics={"bytes": 2**40}, **KERNEL)
        with _native.Scope("caf\u00e9 \U0001f600\n\udc80"):
            session.on_kernel("k2", 4_000, 4_001, lane=8, **KERNEL)
    session.add_device("CUDA", 0, {"arch": "90", "num_sms": 132})
    session.add_autotune({"kernel": "k", "configs": [{"time_ns": None, "kwargs": {"BLOCK": 64}}]})
    session.count_loss("dropped_event", 3)
    session.warn("clock jumped")


def test_msgpack_and_json_hold_the_same_object() -> None:
    with recording() as session:
        record_everything(session)
        text = session.serialize("hatchet", 0, HEADER)
        packed = session.serialize("hatchet_msgpack", 0, HEADER)
    assert json.loads(text) == msgpack.loads(packed, raw=False, strict_map_key=False)


def test_key_order_is_the_same_in_both_formats() -> None:
    with recording() as session:
        record_everything(session)
        text = session.serialize("hatchet", 0, HEADER)
        packed = session.serialize("hatchet_msgpack", 0, HEADER)
    root = json.loads(text)[0]
    assert list(root) == ["frame", "metrics", "children", "proton"]
    assert list(root["children"][0]) == ["frame", "metrics", "children"]
    # dumps keeps the order in which the keys were read
    assert json.dumps(json.loads(text)) == json.dumps(msgpack.loads(packed))


def test_json_is_compact_utf8() -> None:
    with recording() as session:
        record_everything(session)
        text = session.serialize("hatchet", 0, HEADER)
    plain = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    assert text.decode() == plain


def test_numbers_keep_their_types() -> None:
    with recording() as session:
        record_everything(session)
        _, outer = _first_nodes(session.serialize("hatchet", 0, HEADER))
    metrics = outer["metrics"]
    assert metrics == {"flops": 3.0, "x": 0.1, "list": [1.0, 2.5], "last": -7}
    assert type(metrics["flops"]) is float
    assert type(metrics["last"]) is int


def test_our_key_says_what_the_session_knows() -> None:
    with recording() as session:
        record_everything(session)
        root, _ = _first_nodes(session.serialize("hatchet", 0, HEADER))
    ours = root["proton"]
    assert ours["format"] == 1
    assert {key: ours[key] for key in HEADER} == HEADER
    assert ours["losses"]["dropped_event"] == 3
    assert ours["losses"]["invalid_text"] == 1
    assert ours["warnings"] == ["clock jumped"]
    assert ours["autotune"][0]["configs"] == [{"time_ns": None, "kwargs": {"BLOCK": 64}}]
    assert ours["metric_kinds"] == {"x": "exclusive", "last": "property"}
    assert ours["kinds"] == "rsksk"


def _first_nodes(text: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    root, _ = json.loads(text)
    return root, root["children"][0]


@pytest.mark.parametrize("format", ["hatchet", "hatchet_msgpack"])
def test_a_stack_of_ten_thousand_scopes_is_written_and_read_back(
    tmp_path: Path, format: str
) -> None:
    depth = 10_000
    path = tmp_path / f"deep.{format}"
    with recording() as session:
        for level in range(depth):
            _native.enter_scope(f"level {level}")
        for _ in range(depth):
            _native.exit_scope()
        session.write(str(path), format, 0, HEADER)
    tree = tree_in(open_profile(path))
    assert tree.depths()[-1] == depth


def test_a_chrome_trace_has_the_known_keys() -> None:
    with recording("trace") as session:
        record_everything(session)
        trace = json.loads(session.serialize("chrome_trace", 0, HEADER))
    assert list(trace) == ["displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "proton"]
    assert trace["displayTimeUnit"] == "us"
    assert trace["proton"]["devices"] == {"CUDA": {"0": {"arch": "90", "num_sms": 132}}}
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert names == {"CPU Thread 0", "GPU Stream 7", "GPU Stream 8"}
    kernel = next(e for e in trace["traceEvents"] if e.get("cat") == "kernel")
    assert kernel["tid"] == 200_007
    assert kernel["dur"] == 2.5
    assert kernel["args"]["call_stack"] == ["ROOT", "outer", 'k<"int">']
    assert kernel["args"]["metrics"] == {"bytes": 2**40}


def test_metric_spans_show_their_values_as_texts() -> None:
    with recording("trace") as session:
        record_everything(session)
        trace = json.loads(session.serialize("chrome_trace", 0, HEADER))
    span = next(e for e in trace["traceEvents"] if e.get("cat") == "metric")
    assert span["name"].startswith("outer: <flops, 3.000000>")
    assert span["args"]["metrics"] == {
        "flops": "3.000000",
        "x": "0.100000",
        "list": "[1.0,2.5]",
        "last": "-7",
    }


def test_flows_join_launches_to_kernels_by_id() -> None:
    with recording("trace") as session:
        record_everything(session)
        events = json.loads(session.serialize("chrome_trace", 0, HEADER))["traceEvents"]
    sources = {e["bind_id"]: e for e in events if e.get("flow_out")}
    targets = {e["bind_id"]: e for e in events if e.get("flow_in")}
    assert len(sources) == 2
    assert sources.keys() == targets.keys()
    assert {e["cat"] for e in sources.values()} == {"launch"}
    assert {e["cat"] for e in targets.values()} == {"kernel"}


def test_a_trace_without_a_device_names_no_rows() -> None:
    with recording("trace") as session:
        with _native.Scope("only"):
            pass
        trace = json.loads(session.serialize("chrome_trace", 0, {}))
    assert [e["ph"] for e in trace["traceEvents"]] == ["X"]
    assert "baseTimeNanoseconds" in trace


def test_an_empty_trace_has_no_base_time() -> None:
    with recording("trace") as session:
        trace = json.loads(session.serialize("chrome_trace", 0, {}))
    assert trace["traceEvents"] == []
    assert "baseTimeNanoseconds" not in trace


def test_a_missing_folder_is_an_oserror_with_the_path(tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "run.hatchet")
    with recording() as session, pytest.raises(FileNotFoundError) as caught:
        session.write(path, "hatchet", 0, {})
    assert caught.value.filename == path


def test_a_full_disk_is_an_oserror(tmp_path: Path) -> None:
    with recording() as session, pytest.raises(OSError, match="No space left") as caught:
        session.write("/dev/full", "hatchet", 0, {})
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("format", ["hatchet", "hatchet_msgpack"])
def test_a_disk_full_in_mid_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, format: str
) -> None:
    path = tmp_path / f"run.{format}"
    path.write_bytes(b"old")
    with recording() as session:
        for number in range(2_000):
            with _native.Scope(f"scope {number}"):
                pass
        with _file_size_limit(50_000), pytest.raises(OSError, match="File too large"):
            session.write(str(path), format, 0, {})
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == [path.name]
        session.write(str(path), format, 0, {})
    assert path.stat().st_size > 50_000


@contextmanager
def _file_size_limit(limit_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_wrong_format_leaves_no_file(tmp_path: Path) -> None:
    with recording() as session, pytest.raises(ValueError, match="choose one of"):
        session.write(str(tmp_path / "run"), "nonsense", 0, {})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "output_format", ["hatchet", "hatchet_msgpack", "chrome_trace", "perfetto"]
)
def test_every_format_says_how_instructions_were_sampled(output_format: str) -> None:
    header = {**HEADER, "sampling": {"files": {"k.py": {"size": 7}}}}
    is_tree = output_format.startswith("hatchet")
    with recording("tree" if is_tree else "trace") as session:
        session.set_sampling(period_cycles=1024, window_ns=3, every_ns=10)
        session.count_loss("dropped_samples", 2)
        session.on_kernel("k", 1_000, 3_500, **KERNEL)
        data = session.serialize(output_format, 0, header)
    if output_format == "hatchet_msgpack":
        proton = msgpack.loads(data, raw=False, strict_map_key=False)[0]["proton"]
    elif output_format == "perfetto":
        notes = [note for p in packets_of(data) for note in p.track_event.debug_annotations]
        (proton,) = [json.loads(n.legacy_json_value) for n in notes if n.name == "proton"]
    else:
        proton = json.loads(data)
        proton = proton[0]["proton"] if is_tree else proton["proton"]
    assert proton["sampling"] == {
        "period_cycles": 1024,
        "window_ns": 3,
        "every_ns": 10,
        "reasons": [],
        "samples": 0,
        "left_out": 0,
        "dropped": 2,
        "non_user": 0,
        "overflows": 0,
        "is_split": False,
        "kernels": [],
        "lines": [],
        "files": {"k.py": {"size": 7}},
    }


def test_a_session_that_does_not_sample_only_passes_on_what_the_runtime_says() -> None:
    with recording() as session:
        assert "sampling" not in json.loads(session.serialize("hatchet", 0, HEADER))[0]["proton"]
        header = {**HEADER, "sampling": {"problem": "no permission"}}
        root = json.loads(session.serialize("hatchet", 0, header))[0]
        assert root["proton"]["sampling"] == {"problem": "no permission"}
        assert session.missing_code(0) == []
        assert session.sampled_files(0) == []
        with pytest.raises(IndexError, match="has no data for phase 5"):
            session.sampled_files(5)
