"""What `proton doctor` says about the machine: GPU, backend, environment variables, folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from proton.backends.common.foreign import foreign_backends
from proton.backends.common.knobs import Knobs
from proton.backends.default_backend import choose_backend
from proton.cli import doctor_cuda
from proton.cli.doctor import Finding
from proton.errors import UsageError
from proton.runtime.environment import VARIABLES, is_disabled, read_knobs, unreadable_settings

_AMD = Path("/dev/kfd")


def gpu() -> Iterator[Finding]:
    """GPUs, by what the kernel shows of their drivers; and the libraries that NVIDIA's need."""
    knobs = _knobs()
    nvidia = list(doctor_cuda.driver_findings(knobs))
    yield from nvidia
    yield from doctor_cuda.libraries(knobs)
    yield from doctor_cuda.hw_trace(knobs)
    if nvidia:
        yield from doctor_cuda.sampling(knobs)
        yield from doctor_cuda.holders()
    if _AMD.exists():
        yield Finding("gpu", f"an AMD driver is loaded ({_AMD})")
    elif not nvidia:
        yield Finding("gpu", "none found: kernels run through Triton's interpreter")


def backend() -> Iterator[Finding]:
    """The backend that `start()` takes when told none, and why."""
    choice = choose_backend(_knobs())
    reason = choice.reason
    if choice.name == "interpreter" and _AMD.exists():
        reason = "this version has no backend for AMD GPUs yet, so kernels are interpreted"
    yield Finding("default backend", f"{choice.name}: {reason}")
    if foreign := foreign_backends():
        listed = (f"{name} ({points[0].value})" for name, points in sorted(foreign.items()))
        yield Finding("backends of other packages", ", ".join(listed))


def _knobs() -> Knobs:
    """As the environment has them; none where it cannot be read, which `environment` says."""
    try:
        return read_knobs()
    except UsageError:
        return Knobs()


def environment() -> Iterator[Finding]:
    """The variables that Proton understands, and whether their values can be read."""
    settings = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    problems = unreadable_settings()
    for problem in problems:
        yield Finding("environment", problem, "correct it or unset it")
    if problems:
        return
    if is_disabled():
        yield Finding(
            "environment",
            f"profiling is switched off: {', '.join(settings)}",
            "unset TRITON_PROTON_DISABLE",
        )
    elif settings:
        yield Finding("environment", ", ".join(settings))
    else:
        yield Finding("environment", f"none set of {', '.join(VARIABLES)}")


def folder() -> Iterator[Finding]:
    """Whether profiles can be written where they go by default."""
    here = os.getcwd()
    try:
        with tempfile.TemporaryFile(dir=here):
            yield Finding("working directory", f"{here} can be written to")
    except OSError as error:
        yield Finding(
            "working directory",
            f"{here} cannot be written to: {error.strerror}",
            "change to another, or give a path: proton -n /path/to/name script.py",
        )
