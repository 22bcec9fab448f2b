"""Whose Python frames a launch gets when its thread has none, on the fake driver."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sysconfig
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.native.fake_cuda.driver import FakeDriver, find_compiler

pytestmark = pytest.mark.usefixtures("tmp_cwd")

# Threads that Python never sees: they launch while the caller waits, or on their own for a while.
_SOURCE = """
#define _GNU_SOURCE
#include <Python.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>
typedef uint32_t (*launch_type)(const char*, uint64_t, void*);
static launch_type launch;
static volatile int goes_on;
static pthread_t worker;
static void* once(void* name) { launch(name, 10, 0); return 0; }
static void* often(void* name) {
  while (goes_on) { launch(name, 10, 0); usleep(300); }
  return 0;
}
void launch_and_join(launch_type function, const char* name) {
  launch = function;
  pthread_create(&worker, 0, once, (void*)name);
  pthread_join(worker, 0);
}
/* As autograd's thread: it lets an object of Python's go before each launch. */
static long sleeps;
static void* lock_and_launch(void* name) {
  struct rusage before, after;
  PyGILState_STATE held = PyGILState_Ensure();
  PyThreadState* state = PyEval_SaveThread();
  launch(name, 10, 0);
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < 500; ++i) {
    PyEval_RestoreThread(state);
    PyEval_SaveThread();
    launch(name, 10, 0);
  }
  getrusage(RUSAGE_THREAD, &after);
  sleeps = after.ru_nvcsw - before.ru_nvcsw;
  PyEval_RestoreThread(state);
  PyGILState_Release(held);
  return 0;
}
long lock_launch_and_join(launch_type function, const char* name) {
  launch = function;
  pthread_create(&worker, 0, lock_and_launch, (void*)name);
  pthread_join(worker, 0);
  return sleeps;
}
void begin(launch_type function, const char* name) {
  launch = function;
  goes_on = 1;
  pthread_create(&worker, 0, often, (void*)name);
}
void end(void) { goes_on = 0; pthread_join(worker, 0); }
"""


@pytest.fixture(scope="module")
def worker_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or find_compiler() is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("worker")
    (folder / "worker.c").write_text(_SOURCE)
    include = f"-I{sysconfig.get_path('include')}"
    command = [compiler, "-shared", "-fPIC", "-pthread", include, "worker.c", "-o", "worker.so"]
    subprocess.run(command, check=True, cwd=folder, timeout=60)
    return folder / "worker.so"


class Worker:
    """The threads of C; `holds_lock` keeps the GIL while the caller waits."""

    def __init__(self, path: Path, driver: FakeDriver, *, holds_lock: bool = False) -> None:
        self._calls = (ctypes.PyDLL if holds_lock else ctypes.CDLL)(str(path))
        self._launch = ctypes.cast(driver.calls.fake_launch, ctypes.c_void_p)

    def backward(self, name: str) -> None:
        self._calls.launch_and_join(self._launch, name.encode())

    def backward_with_lock(self, name: str) -> int:
        """501 launches, the GIL taken between them: how often the thread slept."""
        return int(self._calls.lock_launch_and_join(self._launch, name.encode()))

    def begin(self, name: str) -> None:
        self._name = name.encode()  # stays alive
        self._calls.begin(self._launch, self._name)

    def end(self) -> None:
        self._calls.end()


@pytest.fixture
def worker(worker_path: Path, fake_driver: FakeDriver) -> Worker:
    return Worker(worker_path, fake_driver)


def functions_of(profile: Any, kernel: str) -> dict[str, int]:
    """The functions above a kernel, `outer>inner`, below the test's own -> runs."""
    found: dict[str, int] = {}
    pending: list[tuple[list[str], Any]] = [([], child) for child in profile.root["children"]]
    while pending:
        above, node = pending.pop()
        name = node["frame"]["name"]
        if name == kernel:
            first = next((i for i, name in enumerate(above) if name.startswith("test_")), -1)
            path = ">".join(above[first + 1 :])
            found[path] = found.get(path, 0) + node["metrics"]["count"]
        pending += [([*above, name.rpartition("@")[2]], child) for child in node["children"]]
    return found


def test_a_thread_without_frames_has_those_of_the_lead(
    worker: Worker, fake_driver: FakeDriver, profile_of: Any
) -> None:
    def train(step: int) -> None:
        fake_driver.launch("forward")
        if step % 2:
            worker.backward("odd")
        else:
            worker.backward("even")

    def warm_up() -> None:
        train(0)

    session = proton.start("run", backend="cupti", context="python")
    with proton.scope("never shown"):
        for step in range(4):
            train(step)
    warm_up()
    with proton.state("late"):
        train(1)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert functions_of(profile, "odd") == {"train>backward": 2, "train>backward>late": 1}
    assert functions_of(profile, "even") == {"train>backward": 2, "warm_up>train>backward": 1}
    assert profile.losses == {}


def test_a_thread_that_takes_the_lock_asks_for_the_leads_frames_once(
    worker: Worker, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", context="python")
    sleeps = worker.backward_with_lock("k")
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert functions_of(profile, "k") == {"backward_with_lock": 501}
    assert sleeps < 100  # each question is one at least


def test_a_lead_that_stays_in_python_code_is_followed(worker: Worker, profile_of: Any) -> None:
    def spin(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    session = proton.start("run", backend="cupti", context="python")
    with proton.scope("never shown"):
        worker.begin("k")
        spin(0.5)
        worker.end()
    proton.finalize(session)
    found = functions_of(profile_of("run.hatchet"), "k")
    assert "never shown" not in " ".join(found)
    assert found.get("spin", 0) > sum(found.values()) / 2, found


def test_a_lead_that_holds_the_lock_and_waits_for_the_launch_is_no_deadlock(
    worker_path: Path, fake_driver: FakeDriver, profile_of: Any
) -> None:
    worker = Worker(worker_path, fake_driver, holds_lock=True)
    session = proton.start("run", backend="cupti", context="python")
    began = time.monotonic()
    for _ in range(50):
        worker.backward("k")
    assert time.monotonic() - began < 10
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert sum(functions_of(profile, "k").values()) == 50
    assert profile.losses == {}


def test_the_lead_is_the_thread_that_started_the_session(worker: Worker, profile_of: Any) -> None:
    def lead() -> None:
        session = proton.start("run", backend="cupti", context="python")
        worker.backward("k")
        proton.finalize(session)

    thread = threading.Thread(target=lead)
    thread.start()
    thread.join()
    (path,) = functions_of(profile_of("run.hatchet"), "k")
    assert path.endswith(">lead>backward")
