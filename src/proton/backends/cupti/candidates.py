"""Which libcupti to open: every one that can be found, in the order of preference, and why.

One process must not use two of them: the one that is mapped already comes first, then the one that
torch would map. Looks at files only and imports nothing; only where one for Blackwell could be
taken, the driver is asked which GPUs there are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata, util
from pathlib import Path

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver
from proton.backends.cupti.gpu_capability import BLACKWELL, newest_capability, text_of

_MAPS = Path("/proc/self/maps")
_TOOLKITS = Path("/usr/local")
_TOOLKIT_FOLDERS = ("extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib")
_LIBRARY = re.compile(r"libcupti\.so(?:\.\d+)*$")
# File names carry a major version of CUDA, or CUPTI's own version: a year and a number.
_FIRST_OF_CUDA = {13: (2025, 3), 12: (2022, 4)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One libcupti: where it is, who brought it, and what came of it."""

    path: str
    origin: str
    exists: bool
    version: str | None  # by its file name: a major version of CUDA, or CUPTI's own
    verdict: str = ""
    is_chosen: bool = False
    is_named: bool = False  # by a knob that leaves no choice

    @property
    def is_for_all(self) -> bool:
        """Whether GPUs of every architecture are to use it."""
        return self.origin not in (_BLACKWELL_KNOB, _TRITON_BLACKWELL)

    @property
    def cuda_major(self) -> int | None:
        """The major version of CUDA it belongs to, where its name tells."""
        return _cuda_major(self.path)

    def __str__(self) -> str:
        known = f" {self.version}" if self.version else ""
        return f"{self.path}{known} ({self.origin}): {self.verdict}"


def find_candidates(knobs: Knobs) -> list[Candidate]:
    """Every libcupti of this machine, judged; at most one is chosen, and the first that can be."""
    newest = driver.newest_cuda(driver.version())
    capability = cache(lambda: newest_capability(knobs))  # asked where the answer matters only
    forced = _forcing_knob(knobs, capability)
    judged: list[Candidate] = []
    seen: set[str] = set()
    for path, origin in _search(knobs, forced):
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        candidate = Candidate(
            path, origin, os.path.exists(path), _version(path), is_named=origin == forced
        )
        refusal = _refusal(candidate, newest, forced)
        if refusal is None and chosen_of(judged) is not None:
            refusal = "not needed: one before it was chosen"
        if refusal is None and not candidate.is_for_all:
            refusal = _too_old(capability())
        verdict = refusal or f"chosen: {_REASONS[origin]}"
        judged.append(replace(candidate, verdict=verdict, is_chosen=refusal is None))
    return judged


def chosen_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The one to open."""
    return next((each for each in candidates if each.is_chosen), None)


MAPPED = "mapped in this process"
_KNOB = "TRITON_CUPTI_LIB_PATH"
_BLACKWELL_KNOB = "TRITON_CUPTI_LIB_BLACKWELL_PATH"
_TORCH = "torch's wheels"
_TRITON = "bundled with Triton"
_TRITON_BLACKWELL = "bundled with Triton for Blackwell"
_TOOLKIT = "CUDA toolkit"
_CACHE = "the loader's cache"
_REASONS = {
    _KNOB: "the knob names it",
    _BLACKWELL_KNOB: "the knob names it for GPUs as new as this machine's",
    MAPPED: "it is in use in this process",
    _TORCH: "torch will load it",
    _TRITON: "Triton brings it, and nothing else is loaded or installed before it",
    _TRITON_BLACKWELL: "Triton brings it for GPUs as new as this machine's, and nothing else is "
    "loaded or installed before it",
    _TOOLKIT: "the toolkit is the only one left",
    _CACHE: "the loader would take it",
}


def _forcing_knob(knobs: Knobs, capability: Callable[[], int | None]) -> str | None:
    """The knob whose library is taken and no other."""
    if knobs.cupti_lib_blackwell_dir is not None and _too_old(capability()) is None:
        return _BLACKWELL_KNOB
    return _KNOB if knobs.cupti_lib_dir is not None else None


def _too_old(capability: int | None) -> str | None:
    """Why a library for Blackwell is not for this machine; None: it is."""
    if capability is not None and capability >= BLACKWELL:
        return None
    here = (
        "none here is known" if capability is None else f"the newest here has {text_of(capability)}"
    )
    return f"not taken: it is for GPUs of compute capability {text_of(BLACKWELL)} or later, {here}"


def _refusal(candidate: Candidate, newest: int | None, forced: str | None) -> str | None:
    if not candidate.exists:
        return "not there"
    if forced is not None and not candidate.is_named:
        return "not taken: the knob names another"
    major = candidate.cuda_major
    if newest is not None and major is not None and major > newest:
        return f"too new: it is of CUDA {major}, the driver serves up to CUDA {newest}"
    return None


def _search(knobs: Knobs, forced: str | None) -> Iterator[tuple[str, str]]:
    """Path and origin of all, the preferred first; a path may not exist and may come twice."""
    for_blackwell = _named(knobs.cupti_lib_blackwell_dir) if knobs.cupti_lib_blackwell_dir else []
    if forced == _BLACKWELL_KNOB:
        yield from ((path, _BLACKWELL_KNOB) for path in for_blackwell)
    if knobs.cupti_lib_dir is not None:
        yield from ((path, _KNOB) for path in _named(knobs.cupti_lib_dir))
    for path in mapped_libraries():
        yield path, MAPPED
    for folder in _wheel_folders():
        yield from ((path, _TORCH) for path in _in_folder(folder))
    triton = _package_folder("triton")
    if triton is not None:
        bundled = os.path.join(triton, "backends", "nvidia", "lib")
        for name, origin in (("cupti-blackwell", _TRITON_BLACKWELL), ("cupti", _TRITON)):
            yield from ((path, origin) for path in _in_folder(os.path.join(bundled, name)))
    homes = [knobs.cuda_home, str(_TOOLKITS / "cuda"), *map(str, _TOOLKITS.glob("cuda-*"))]
    for home in filter(None, homes):
        for name in _TOOLKIT_FOLDERS:
            yield from ((path, _TOOLKIT) for path in _in_folder(os.path.join(home, name)))
    for path in driver.cached_libraries("libcupti.so"):
        yield path, _CACHE
    # Last where it is not for this machine: the same folder may be named for all GPUs.
    yield from ((path, _BLACKWELL_KNOB) for path in for_blackwell)


def _named(path: str) -> list[str]:
    """What the knob names: a file, or those of a folder; the path itself where there is nothing."""
    if os.path.isdir(path):
        return _in_folder(path) or [os.path.join(path, "libcupti.so")]
    return [path]


def mapped_libraries() -> list[str]:
    """The libcupti files that this process has loaded."""
    lines = driver.text_of_file(_MAPS).splitlines()
    paths = (line.split(maxsplit=5)[5] for line in lines if "libcupti.so" in line)
    return list(dict.fromkeys(path for path in paths if _LIBRARY.search(path)))


def _in_folder(folder: str) -> list[str]:
    """The libcupti of a folder, if any: by the name with a major version, which is its soname."""
    try:
        names = [name for name in os.listdir(folder) if _LIBRARY.fullmatch(name)]
    except OSError:
        return []
    names.sort(key=lambda name: (name.count(".") != 2, len(name), name))
    return [os.path.join(folder, name) for name in names[:1]]  # the others are links or copies


def _wheel_folders() -> Iterator[str]:
    """The library folders of NVIDIA's wheels, those of the installed torch's CUDA first."""
    folders = []
    for entry in dict.fromkeys(filter(None, sys.path)):
        nvidia = os.path.join(entry, "nvidia")
        if not os.path.isdir(nvidia):
            continue
        folders += [os.path.join(nvidia, name, "lib") for name in sorted(os.listdir(nvidia))]
    major = _torch_cuda_major()
    known = [folder for folder in folders if _in_folder(folder)]
    yield from sorted(known, key=lambda folder: _cuda_major(_in_folder(folder)[0]) != major)


def _torch_cuda_major() -> int | None:
    """The major version of CUDA that the installed torch needs, by its requirements."""
    try:
        requirements = metadata.requires("torch") or []
    except metadata.PackageNotFoundError:
        return None
    for requirement in requirements:
        if found := re.match(r"nvidia-cuda-cupti(?:-cu(\d+))?\s*(?:==\s*(\d+))?", requirement):
            major = found[1] or found[2]
            return int(major) if major else None
    return None


def _package_folder(package: str) -> str | None:
    """Where a package is installed, without importing it."""
    try:
        spec = util.find_spec(package)
    except (ImportError, ValueError):
        return None
    locations = spec.submodule_search_locations if spec is not None else None
    return next(iter(locations), None) if locations else None


def _version(path: str) -> str | None:
    """The longest version in the name of the file, of what it links to or of its copies."""
    folder = os.path.dirname(path)
    stem = os.path.join(folder, "libcupti.so.")
    names = [os.path.realpath(path), path]
    if os.path.isdir(folder):
        names += [each for name in os.listdir(folder) if (each := os.path.join(folder, name))]
    found = [name.rpartition(".so.")[2] for name in names if name.startswith(stem)]
    return max(found, key=len, default=None)


def _cuda_major(path: str) -> int | None:
    """The major version of CUDA by the name of the file or of what it links to."""
    for name in (path, os.path.realpath(path)):
        found = re.search(r"\.so\.(\d+)(?:\.(\d+))?", name)
        if found:
            own = int(found[1]), int(found[2] or 0)
            if own[0] < 2000:
                return own[0]
            return next((major for major, first in _FIRST_OF_CUDA.items() if own >= first), 11)
    return None
