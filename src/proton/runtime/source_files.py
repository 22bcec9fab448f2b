"""What source files are when a recording ends, so that readers can tell whether they changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from proton.model.in_kernel import RecordedKernel
from proton.model.sampling import SourceFile

LARGEST_BYTES = 16 << 20  # nobody writes a larger source; a device file has no end


def with_sources(kernels: Sequence[RecordedKernel]) -> list[RecordedKernel]:
    """`kernels` with what identifies the files of their regions and accesses."""
    paths = [[file for file in dict.fromkeys(_files_of(kernel)) if file] for kernel in kernels]
    known = identify(path for each in paths for path in each)
    return [
        replace(kernel, files={path: known[path] for path in each if path in known})
        for kernel, each in zip(kernels, paths, strict=True)
    ]


def _files_of(kernel: RecordedKernel) -> Iterator[str]:
    yield from (region.file for region in kernel.regions)
    yield from (site.file for site in kernel.accesses)


def identify(paths: Iterable[str]) -> dict[str, SourceFile]:
    """Path -> hash and size of each file that is there and can be read; others are left out.

    A relative path is one of the folder that is current now.
    """
    found: dict[str, SourceFile] = {}
    for path in dict.fromkeys(paths):
        content = _read(path)
        if content is not None:
            found[path] = SourceFile(hashlib.sha256(content).hexdigest(), len(content))
    return found


def _read(path: str) -> bytes | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_BYTES:
            return None
        with open(path, "rb") as file:
            return file.read(LARGEST_BYTES)
    except (OSError, ValueError):  # ValueError: a NUL in it
        return None
