"""Where metrics of scopes stand, and values that are text or tensors of one element."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

import proton
from proton.errors import MetricTypeError

pytestmark = pytest.mark.usefixtures("gpu")


def test_metrics_of_a_scope_in_a_state_stand_where_its_kernels_do(
    gpu: Any, session: int, profile_of: Any
) -> None:
    with proton.scope("test0"), proton.state("state"), proton.scope("test1", {"a": 1}):
        gpu.launch("k")
    with proton.state("outer"), proton.cpu_timed_scope("timed", {"b": 2}), proton.state("inner"):
        proton.enter_scope("entered", metrics={"c": 3})
        proton.exit_scope("entered", metrics={"d": 4})
    found = profile_of(proton.data.get(session))
    assert found.metrics("test0/test1/state") == {"a": 1}
    assert found.metrics("test0/test1") == {}
    assert "count" in found.metrics("test0/test1/state/k")
    assert found.metrics("timed/outer") == {"b": 2}
    assert list(found.metrics("timed")) == ["cpu_time (ns)"]  # the time is the scope's own
    assert found.metrics("timed/entered/inner") == {"c": 3, "d": 4}


def test_a_scope_outside_the_state_has_its_metrics_itself(session: int, profile_of: Any) -> None:
    with proton.scope("a", {"x": 1}), proton.state("s"):
        pass
    assert profile_of(proton.data.get(session)).metrics("a") == {"x": 1}


def test_text_may_be_a_property_or_an_exclusive_metric_and_the_last_one_stands(
    session: int, profile_of: Any
) -> None:
    for kind in ("fp32", "bf16"):
        with proton.scope("a", {"dtype (pty)": kind, "layout (exc)": kind.upper()}):
            pass
    assert profile_of(proton.data.get(session)).metrics("a") == {"dtype": "bf16", "layout": "BF16"}
    with pytest.raises(MetricTypeError), proton.scope("a", {"x": "text"}):
        pass


def test_reading_a_paused_session_twice_gives_the_same(gpu: Any, session: int) -> None:
    gpu.launch("k")
    proton.deactivate(session)
    packed = proton.data.get_msgpack(session)
    assert packed is not None
    assert proton.data.get(session) == msgpack.unpackb(packed, strict_map_key=False)
    paused = (proton.data.get(session) or [{}])[0]["proton"]["end_time_ns"]
    proton.activate(session)
    assert (proton.data.get(session) or [{}])[0]["proton"]["end_time_ns"] > paused


def test_the_error_for_an_unknown_session_begins_as_known() -> None:
    with pytest.raises(IndexError, match=r"^Session has not been initialized: 999; "):
        proton.activate(999)
