"""The start of a file's `proton` key: who recorded what, where and when."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Sequence

from proton._version import __version__
from proton.model.schema import FORMAT_VERSION
from proton.runtime.options import SessionOptions, read_rank


def make_header(
    options: SessionOptions,
    *,
    backends: Sequence[str],
    phase: int,
    phases: Sequence[int],
    start_time_ns: int,
) -> dict[str, object]:
    """The keys that the runtime knows; losses and the like are the native core's to add."""
    triton = sys.modules.get("triton")  # a program that did not import it did not use it
    return {
        "format": FORMAT_VERSION,
        "version": __version__,
        "session": _clean(options.name),
        "context": options.context,
        "data": options.data,
        "backends": list(backends),
        "mode": options.mode,
        "phase": phase,
        "phases": list(phases),
        "command": [_clean(word) for word in sys.orig_argv],
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "rank": read_rank(strict=False),
        "python": platform.python_version(),
        "triton": getattr(triton, "__version__", None),
        "start_time_ns": start_time_ns,
        "end_time_ns": time.time_ns(),
    }


def _clean(text: str) -> str:
    """`text` without the lone surrogates that undecodable arguments come as."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
