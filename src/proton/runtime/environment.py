"""What the environment says about sessions: variables, and the knobs of Triton that stand for them.

Light to import: `import proton` asks whether NVTX is wanted.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from proton.errors import UsageError

if TYPE_CHECKING:  # not to break a cycle: `import proton` must not load it
    from proton.backends.common.knobs import Knobs

_RANK_VARIABLES = (
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
)
_TRUE = ("1", "true", "yes", "on", "y")
_FALSE = ("0", "false", "no", "off", "n", "")
# switch or size -> its variable; those called TRITON_ are knobs of Triton's by the same name
_SWITCHES = {
    "disable": "TRITON_PROTON_DISABLE",
    "enable_nvtx": "TRITON_ENABLE_NVTX",
    "enable_hw_trace": "TRITON_ENABLE_HW_TRACE",
    "data_flush_timing": "PROTON_DATA_FLUSH_TIMING",
    "graph_launch_timing": "PROTON_GRAPH_LAUNCH_TIMING",
    "catches_signals": "PROTON_CATCH_SIGNALS",
    "interpret": "TRITON_INTERPRET",
}
_SIZES = {
    "profile_buffer_size": "TRITON_PROFILE_BUFFER_SIZE",
    "profile_metric_buffer_size": "TRITON_PROFILE_METRIC_BUFFER_SIZE",
}
_PATHS = {
    "cupti_lib_dir": ("TRITON_CUPTI_LIB_PATH", "TRITON_CUPTI_LIB_DIR"),
    "cupti_lib_blackwell_dir": ("TRITON_CUPTI_LIB_BLACKWELL_PATH",),
}
_JOURNAL_INTERVAL = "PROTON_JOURNAL_INTERVAL"
_CUDA_LIBRARY = "PROTON_CUDA_LIBRARY"
# what is ours of what a session reads
VARIABLES = (
    *_SWITCHES.values(),
    *(variable for variables in _PATHS.values() for variable in variables),
    *_SIZES.values(),
    _JOURNAL_INTERVAL,
    _CUDA_LIBRARY,
)
_SIZE_DIGITS = 19  # what has fewer fits into 64 bits
JOURNAL_INTERVAL_S = 10.0


def read_rank(*, strict: bool) -> int | None:
    """This process's rank among those its launcher started; None where no launcher said one.

    Raises:
        UsageError: `strict`, and the launcher's variable is no number.
    """
    for variable in _RANK_VARIABLES:
        if text := os.environ.get(variable):
            if text.isascii() and text.isdigit():
                return int(text)
            if strict:
                raise _unparsable(
                    f"environment variable {variable}", text, "a whole number, 0 or more"
                )
    return None


def is_disabled() -> bool:
    """Whether knob or environment says that nothing is to be profiled."""
    return read_switch("disable")


def read_switch(switch: str, *, default: bool = False) -> bool:
    """A switch by its name among the knobs.

    Raises:
        UsageError: what it is set to means neither yes nor no.
    """
    return _read_bool(_triton_knobs(), switch, default=default)


def read_journal_interval() -> float:
    """Seconds between two savings of an open session; 0: none.

    Raises:
        UsageError: not a number of seconds.
    """
    text = os.environ.get(_JOURNAL_INTERVAL)
    if not text:
        return JOURNAL_INTERVAL_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if 0 <= seconds < math.inf:
        return seconds
    place = f"environment variable {_JOURNAL_INTERVAL}"
    raise _unparsable(place, text, "a number of seconds, or 0 for never")


def read_knobs() -> Knobs:
    """All knobs: values set on `triton.knobs.proton` win over the environment.

    Raises:
        UsageError: a variable's value cannot be read; it names variable, value and choices.
    """
    from proton.backends.common.knobs import Knobs

    knobs = _triton_knobs()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return Knobs(
        disable=_read_bool(knobs, "disable"),
        enable_nvtx=_read_bool(knobs, "enable_nvtx", default=True),
        enable_hw_trace=_read_bool(knobs, "enable_hw_trace"),
        cupti_lib_dir=_read_text(knobs, "cupti_lib_dir"),
        cupti_lib_blackwell_dir=_read_text(knobs, "cupti_lib_blackwell_dir"),
        profile_buffer_size=_read_size(knobs, "profile_buffer_size"),
        profile_metric_buffer_size=_read_size(knobs, "profile_metric_buffer_size"),
        data_flush_timing=_read_bool({}, "data_flush_timing"),
        graph_launch_timing=_read_bool({}, "graph_launch_timing"),
        cuda_library=os.environ.get(_CUDA_LIBRARY) or None,
        cuda_home=os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or None,
        library_folders=tuple(
            filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
        ),
        hides_devices=visible is not None and visible.strip() in ("", "-1", "NoDevFiles"),
        interprets=_read_bool({}, "interpret"),
    )


def unreadable_settings() -> list[str]:
    """What would stop a session: a line for each setting that cannot be read."""
    knobs = _triton_knobs()
    reads: list[Callable[[], object]] = [
        *(partial(_read_bool, knobs, knob) for knob in _SWITCHES),
        *(partial(_read_size, knobs, knob) for knob in _SIZES),
        read_journal_interval,
    ]
    problems = []
    for read in reads:
        try:
            read()
        except UsageError as error:
            problems.append(str(error))
    return problems


def _triton_knobs() -> Mapping[str, object]:
    """What the program set on `triton.knobs.proton`; empty while Triton is not imported."""
    knobs = getattr(sys.modules.get("triton.knobs"), "proton", None)
    return getattr(knobs, "__dict__", {})


def _read_bool(knobs: Mapping[str, object], knob: str, *, default: bool = False) -> bool:
    place, value = _find(knobs, knob, _SWITCHES[knob])
    text = str(value).lower()
    if value is None or text == "":
        return default
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _unparsable(place, value, "one of 1, true, yes, on, y or 0, false, no, off, n")


def _read_text(knobs: Mapping[str, object], knob: str) -> str | None:
    place, value = _find(knobs, knob, *_PATHS[knob])
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bytes | os.PathLike):
        return os.fsdecode(value)
    raise _unparsable(place, value, "a path")


def _read_size(knobs: Mapping[str, object], knob: str) -> int:
    place, value = _find(knobs, knob, _SIZES[knob])
    text = str(value)
    if value is None or text == "":
        return 0
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise _unparsable(place, value, "a whole number of bytes above 0")
    if len(text) >= _SIZE_DIGITS:
        raise _unparsable(place, value, "a number of bytes that a machine can have")
    return int(text)


def _find(knobs: Mapping[str, object], knob: str, *variables: str) -> tuple[str, object]:
    """Where a switch is set, in words, and its value there; None: nowhere."""
    if knobs.get(knob) is not None:
        return f"triton.knobs.proton.{knob}", knobs[knob]
    for variable in variables:
        if os.environ.get(variable):
            return f"environment variable {variable}", os.environ[variable]
    return "", None


def _unparsable(place: str, value: object, accepted: str) -> UsageError:
    return UsageError(f"{place}={value!r} cannot be read; give {accepted}")
