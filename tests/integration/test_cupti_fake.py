"""Whole sessions of backend "cupti" on the fake driver: trees, traces, graphs, phases, versions."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import BackendUnavailable, ProtonWarning
from proton.files.detect import open_profile
from proton.model.trace import SpanKind
from tests.native.fake_cuda.driver import VERSIONS, FakeDriver, build_driver
from tests.support.profiles import trace_in

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def kernels_of(profile: Any) -> dict[str, tuple[int, int]]:
    """Path -> runs and time of every kernel, copy and graph; a slash in a name is left as it is."""
    found = {}
    pending = [("", child) for child in profile.root["children"]]
    while pending:
        above, node = pending.pop()
        path, metrics = above + node["frame"]["name"], node["metrics"]
        if "count" in metrics:
            assert path not in found
            found[path] = metrics["count"], metrics["time (ns)"]
        pending += [(path + "/", child) for child in node["children"]]
    return found


def test_a_tree_is_exact(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")
    for step in range(3):
        with proton.scope("step"):
            with proton.scope("forward"):
                fake_driver.launch("gemm", 100)
                fake_driver.launch("relu", 10 + step)
            with proton.scope("backward"):
                fake_driver.launch("gemm", 200)
        fake_driver.memcpy(2, 8, 5)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert kernels_of(profile) == {
        "step/forward/gemm": (3, 300),
        "step/forward/relu": (3, 33),
        "step/backward/gemm": (3, 600),
        "<memcpy DtoH>": (3, 15),
    }
    assert profile.losses == {}
    assert profile.devices["CUDA"]["0"]["name"] == "Fake GPU"
    assert fake_driver.counter("is_subscribed") == 0


def test_every_thread_keeps_its_scopes(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")

    def work(number: int) -> None:
        stream = fake_driver.stream()
        for turn in range(50):
            with proton.scope(f"t{number}"), proton.scope(f"s{turn % 2}"):
                fake_driver.launch(f"k{number}_{turn % 2}", 7, stream)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proton.finalize(session)
    expected = {f"t{n}/s{s}/k{n}_{s}": (25, 175) for n in range(8) for s in range(2)}
    assert kernels_of(profile_of("run.hatchet")) == expected


def test_python_context_shows_the_calling_functions(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", context="python")

    def layer(name: str) -> None:
        fake_driver.launch(name, 9)

    layer("a")
    layer("b")
    proton.finalize(session)
    paths = sorted(kernels_of(profile_of("run.hatchet")), key=lambda path: path[-1])
    assert len(paths) == 2
    for path, name in zip(paths, "ab", strict=True):
        assert path.endswith(f"@launch/{name}")
        assert "@layer/" in path
        assert "@test_python_context_shows_the_calling_functions/" in path


def test_python_context_follows_stacks_that_grow_shrink_and_change(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    def descend(depth: int, name: str) -> None:
        if depth > 1:
            descend(depth - 1, name)
        else:
            fake_driver.launch(name, 1)

    def produce() -> Iterator[int]:
        for index in range(3):
            yield fake_driver.launch(f"generated{index}", 1)

    session = proton.start("run", backend="cupti", context="python")
    depths = (1, 5, 200, 5, 3, 5, 1)
    for turn, depth in enumerate(depths):
        descend(depth, f"turn{turn}")
    descend(2, "here")
    descend(2, "there")
    list(produce())
    proton.finalize(session)
    paths = {path.rpartition("/")[2]: path for path in kernels_of(profile_of("run.hatchet"))}
    for turn, depth in enumerate(depths):
        assert paths[f"turn{turn}"].count("@descend/") == depth
    assert paths["turn1"].replace("turn1", "turn3") == paths["turn3"]
    for index in range(3):
        assert "@produce/" in paths[f"generated{index}"]
    # The innermost frames are the same, the line that called them is not.
    here, there = (paths[name].split("/")[:-1] for name in ("here", "there"))
    assert len(here) == len(there)
    assert sum(one != other for one, other in zip(here, there, strict=True)) == 1


def test_sessions_differ_in_context_and_data(fake_driver: FakeDriver, profile_of: Any) -> None:
    shadow = proton.start("shadow", backend="cupti")
    frames = proton.start("frames", backend="cupti", context="python")
    trace = proton.start("trace", backend="cupti", data="trace")
    with proton.scope("outer"):
        fake_driver.launch("k", 11)
    for session in (shadow, frames, trace):
        proton.finalize(session)
    assert kernels_of(profile_of("shadow.hatchet")) == {"outer/k": (1, 11)}
    (path,) = kernels_of(profile_of("frames.hatchet"))
    assert path.endswith("@launch/k")
    assert "/outer/" not in path
    events = json.loads(Path("trace.chrome_trace").read_bytes())["traceEvents"]
    assert any(event.get("name") == "k" for event in events)


def test_paused_sessions_leave_out_what_ran_meanwhile(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.launch("first")
    proton.deactivate(session)
    fake_driver.launch("unseen")
    proton.activate(session)
    fake_driver.launch("second")
    proton.finalize(session)
    assert set(kernels_of(profile_of("run.hatchet"))) == {"first", "second"}


def capture(driver: FakeDriver, names: list[str]) -> int:
    """The executable of a graph of these kernels, captured in a scope each."""
    stream = driver.stream()
    driver.calls.fake_capture_begin(stream)
    for name in names:
        with proton.scope(f"layer_{name}"):
            driver.launch(name, 4, stream)
    return driver.instantiate(driver.calls.fake_capture_end(stream))


def test_replays_are_attributed_to_launch_and_capture(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    with proton.scope("warmup"):
        executable = capture(fake_driver, ["a", "b"])
    with proton.scope("serve"):
        for _ in range(10):
            fake_driver.replay(executable)
    proton.finalize(session)
    assert kernels_of(profile_of("run.hatchet")) == {
        "serve/<captured_at>/warmup/layer_a/a": (10, 40),
        "serve/<captured_at>/warmup/layer_b/b": (10, 40),
    }


def test_metrics_of_captured_scopes_count_for_every_replay(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    stream = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream)
    with proton.scope("layer", metrics={"flops": 3.0}):
        fake_driver.launch("k", 4, stream)
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    with proton.scope("serve"):
        for _ in range(10):
            fake_driver.replay(executable)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("serve/<captured_at>/layer")["flops"] == 30.0


def test_mode_graphs_graph_books_replays_as_one(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti", mode="graphs=graph")
    executable = capture(fake_driver, ["a", "b", "c"])
    with proton.scope("serve"):
        fake_driver.replay(executable)
        fake_driver.replay(executable)
    proton.finalize(session)
    name = fake_driver.graph_name(executable)
    assert kernels_of(profile_of("run.hatchet")) == {f"serve/{name}": (2, 24)}


def test_kernels_belong_to_the_phase_of_their_launch(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.launch("first")
    proton.data.advance_phase(session)
    fake_driver.launch("second")
    proton.deactivate(session, flushing=True)
    names = []
    for phase in range(2):
        content = proton.data.get(session, phase)
        assert content is not None
        names.append([child["frame"]["name"] for child in content[0]["children"]])
    proton.finalize(session)
    assert names == [["first"], ["second"]]


@pytest.mark.parametrize("mode", [None, "periodic_flushing"])
def test_phases_in_flight_keep_their_kernels_however_many_there_are(
    fake_driver: FakeDriver, profile_of: Any, mode: str | None
) -> None:
    count = 100
    session = proton.start("run", backend="cupti", mode=mode)
    for phase in range(count):
        fake_driver.launch("k", 10 + phase)
        proton.data.advance_phase(session)
    proton.finalize(session)
    for phase in range(count):
        profile = profile_of(f"run.part_{phase}.hatchet")
        assert kernels_of(profile) == {"k": (1, 10 + phase)}
        assert profile.header["losses"] == {}


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_a_trace_shows_cpp_names_to_people_and_keeps_the_symbol(
    fake_driver: FakeDriver, output_format: str
) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    fake_driver.launch("_Z3addIiEvPT_")
    proton.finalize(session, output_format)
    (path,) = Path().glob("run.*")
    trace = trace_in(open_profile(path))
    names = {span.name for span in trace.spans}
    assert names == {"_Z3addIiEvPT_", "launch _Z3addIiEvPT_"}
    if output_format == "chrome_trace":
        events = json.loads(path.read_bytes())["traceEvents"]
        shown = {event["name"] for event in events if event["ph"] == "X"}
        assert shown == {"add<int>", "cuLaunchKernel"}
        stacks = {tuple(event["args"]["call_stack"]) for event in events if event["ph"] == "X"}
        assert ("ROOT", "_Z3addIiEvPT_") in stacks


def test_a_launch_in_a_trace_is_named_after_its_kernel(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    stream = fake_driver.stream()
    fake_driver.launch("gemm", 100)
    fake_driver.memcpy(1, 64)
    fake_driver.calls.fake_capture_begin(stream)
    fake_driver.launch("captured", 3, stream)
    fake_driver.replay(fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream)))
    proton.finalize(session)
    spans = trace_in(open_profile(Path("run.chrome_trace"))).spans
    launches = [span for span in spans if span.kind is SpanKind.LAUNCH]
    assert {span.name: span.attributes["function"] for span in launches} == {
        "cuLaunchKernel": "cuLaunchKernel",  # captured, not run
        "launch gemm": "cuLaunchKernel",
        "launch <memcpy HtoD>": "cuMemcpyHtoDAsync_v2",
        "launch <graph>": "cuGraphLaunch",
    }
    (kernel,) = (span for span in spans if span.name == "gemm")
    assert kernel.attributes["occupancy"] == 0.5  # 32 blocks of one warp: half of 64


def test_a_trace_has_lanes_of_streams_and_arrows_from_launches(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    streams = [fake_driver.stream(), fake_driver.stream()]
    with proton.scope("outer"):
        for stream in streams:
            fake_driver.launch("k", 50_000, stream)
    proton.finalize(session)
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    spans = [each for each in events if each.get("ph") == "X" and each["name"] == "k"]
    assert len({(each["pid"], each["tid"]) for each in spans}) == 2
    assert [round(each["dur"]) for each in spans] == [50, 50]
    assert any(each.get("flow_out") for each in events)
    assert all(each["flow_in"] for each in spans)


def test_several_devices_are_told_apart(fake_driver: FakeDriver, profile_of: Any) -> None:
    fake_driver.option("device_count", 2)
    session = proton.start("run", backend="cupti")

    def work() -> None:
        fake_driver.calls.fake_context_create(1)
        fake_driver.launch("k", 3)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    fake_driver.launch("other", 3)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["device_id"] == "1"
    assert profile.metrics("other")["device_id"] == "0"
    assert set(profile.devices["CUDA"]) == {"0", "1"}


@pytest.mark.parametrize(("mode", "names"), [("", set()), ("unified_memory=on", {"HtoD", "DtoH"})])
def test_migrations_of_unified_memory_are_in_the_file_where_asked_for(
    mode: str, names: set[str], fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", mode=mode)
    with proton.scope("step"):
        fake_driver.launch("k", 3)
        fake_driver.calls.fake_unified_memory(1, 1 << 16, 20, 0, 0)
        fake_driver.calls.fake_unified_memory(2, 1 << 16, 30, 0, 0)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    found = {path for path in kernels_of(profile) if path != "step/k"}
    assert found == {f"<unified memory {name}>" for name in names}  # nobody's call: at the root
    assert profile.losses == {}
    assert not profile.header.get("warnings")


def test_dropped_records_are_in_the_file(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.option("drop_next", 4)
    for _ in range(6):
        fake_driver.launch("k")
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 2
    assert profile.losses == {"dropped_event": 4}


def test_a_session_whose_records_were_all_dropped_says_so(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.option("drop_next", 3)
    for _ in range(3):
        fake_driver.launch("k")
    with pytest.warns(ProtonWarning, match="nothing: all that was seen .*3 dropped_event"):
        proton.finalize(session)


def test_a_refusal_names_error_and_remedy(fake_driver: FakeDriver) -> None:
    fake_driver.fail("cuptiActivityEnable", 35, times=1)
    with pytest.raises(BackendUnavailable, match=r"INSUFFICIENT_PRIVILEGES.*NVreg_Restrict"):
        proton.start("run", backend="cupti")
    session = proton.start("run", backend="cupti")  # it can be tried again
    fake_driver.launch("k")
    proton.finalize(session)


@pytest.mark.parametrize("function", ["cuInit", "cuDeviceGetCount", "cuDeviceGetName"])
def test_a_device_that_has_gone_costs_its_description_only(
    function: str, fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.launch("k", 3)
    fake_driver.fail(function, 100)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert kernels_of(profile) == {"k": (1, 3)}
    (warning,) = profile.header["warnings"]
    assert warning.startswith("the profile does not describe its devices: ")
    assert f"{function} failed with" in warning


def test_a_device_reset_in_the_middle_loses_nothing(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.launch("before")
    fake_driver.calls.fake_device_reset(0)
    fake_driver.launch("after")
    proton.finalize(session)
    assert set(kernels_of(profile_of("run.hatchet"))) == {"before", "after"}


VERSION_SCRIPT = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from tests.native.fake_cuda.driver import FakeDriver
    import proton
    from proton._native import Cupti

    driver = FakeDriver(Path(sys.argv[2]))
    driver.option("device_count", 2)
    session = proton.start("run", backend="cupti")
    with proton.scope("outer"):
        for _ in range(1000):
            driver.launch("k", 3)
        driver.memcpy(1, 64, 2)
        driver.memset(64, 2)
        driver.calls.fake_memcpy_peer(0, 1, 64, 2, None)
        driver.calls.fake_memcpy_peer(0, 0, 64, 4, None)
    graph = driver.calls.fake_graph_create()
    driver.calls.fake_graph_add_kernel(graph, driver.function("node", 5))
    driver.replay(driver.instantiate(graph))
    proton.finalize(session)
    assert driver.violations == [], driver.violations
    print(Cupti.load("", ""), driver.counter("cuptiFinalize"))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_one_binary_serves_every_version(
    version: str,
    fake_driver: FakeDriver,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    profile_of: Any,
) -> None:
    folder = build_driver(version)
    root = Path(__file__).parents[2]
    environment = FakeDriver(folder).environment
    run = run_python(VERSION_SCRIPT, str(root), str(folder), env=environment)
    assert run.returncode == 0, run.stderr
    number, let_go_count = map(int, run.stdout.split())
    assert number == VERSIONS[version]
    assert let_go_count == (version != "12.6")  # which may not know the graph again
    assert kernels_of(profile_of(tmp_path / "run.hatchet")) == {
        "outer/k": (1000, 3000),
        "outer/<memcpy HtoD>": (1, 2),
        "outer/<memset>": (1, 2),
        "outer/<memcpy PtoP>": (1, 2),
        "outer/<memcpy DtoD>": (1, 4),
        "<captured_at>/node": (1, 5),
    }


EXIT_SCRIPT = """
    import os, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from tests.native.fake_cuda.driver import FakeDriver
    import proton

    driver = FakeDriver(Path(sys.argv[2]))
    proton.start("run", backend="cupti")
    driver.launch("k", 3)
    child = os.fork()
    if child == 0:
        with proton.scope("in the child"):
            pass
        sys.exit(int(driver.counter("violations") != 0))
    assert os.waitpid(child, 0)[1] == 0
    driver.launch("k", 3)
"""


def test_exit_without_finalize_writes_in_the_parent_alone(
    fake_driver: FakeDriver,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    profile_of: Any,
) -> None:
    root = str(Path(__file__).parents[2])
    run = run_python(EXIT_SCRIPT, root, str(fake_driver.folder), env=fake_driver.environment)
    assert run.returncode == 0, run.stderr
    assert kernels_of(profile_of(tmp_path / "run.hatchet")) == {"k": (2, 6)}
