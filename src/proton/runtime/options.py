"""Arguments and environment become one frozen `SessionOptions`. The only reader of `os.environ`."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from proton.backends.base import BACKENDS
from proton.backends.choice import choose_backend
from proton.backends.cupti.mode import OPTIONS as CUPTI_OPTIONS
from proton.backends.cupti.mode import SAMPLING, parse_mode
from proton.backends.cupti.sampling_mode import OPTIONS as SAMPLING_OPTIONS
from proton.backends.knobs import Knobs
from proton.errors import BackendUnavailable, UsageError
from proton.inkernel.modes.instrumentation_mode import (
    BaseMode,
    InstrumentationMode,
    ModeText,
    split_modes,
)
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.runtime.file_names import (
    DEFAULT_PROFILE_NAME,
    LONGEST_NAME_BYTES,
    STDOUT_NAMES,
    file_name,
    fill,
    pick_format,
)
from proton.runtime.hooks import Hook
from proton.runtime.launch_hook import LaunchHook
from proton.runtime.request import SessionRequest

CONTEXTS = ("shadow", "python")
DATA_KINDS = ("tree", "trace")
PERIODIC_FLUSHING = "periodic_flushing"
JOURNAL_INTERVAL_S = 10.0

# backend -> mode -> its options; a backend that is not listed checks its mode itself
_MODES: dict[str, dict[str, tuple[str, ...]]] = {
    "cupti": {"": tuple(CUPTI_OPTIONS), SAMPLING: SAMPLING_OPTIONS, PERIODIC_FLUSHING: ("format",)},
    "rocprofiler": {SAMPLING: ("interval",), PERIODIC_FLUSHING: ("format",)},
    "interpreter": {PERIODIC_FLUSHING: ("format",)},
}
_RENAMED = {"roctracer": "rocprofiler"}
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
_SIZE_DIGITS = 19  # what has fewer fits into 64 bits


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What one `start()` asked for, checked.

    Attributes:
        name: as given, `"proton"` when left out.
        stem: absolute path of the file without suffix; None for standard output.
        mode: for the backend, without the modes that the session itself carries out.
        mode_object: what `mode` is the text of, in kernels: not every tool can be made of its text.
        flush_format: the format parts are written in as phases end; None: only at the end.
        hook: None, `"triton"` or a hook of the user's.
        journal_interval_s: how often the open phase is saved in the journal; 0: never.
        catches_signals: whether SIGTERM and SIGHUP write the profile before they end the process.
        output_format: what to write at the end, where the `proton` command said it.
    """

    name: str
    stem: str | None
    context: str
    data: str
    backend: str
    mode: str
    flush_format: str | None
    hook: Hook | str | None
    knobs: Knobs = field(default_factory=Knobs)
    journal_interval_s: float = JOURNAL_INTERVAL_S
    catches_signals: bool = True
    mode_object: InstrumentationMode | None = None
    output_format: str = ""

    def format_to_write(self, asked: str) -> str:
        """The format of the session's files; `""` asks for the one it was started with.

        Raises:
            UsageError: it does not exist, does not suit, or is not that of the parts so far.
        """
        chosen = pick_format(asked or self.output_format or self.flush_format or "", self.data)
        if self.flush_format not in (None, chosen):
            raise UsageError(
                f"output format {chosen!r} is not {self.flush_format!r}, in which session "
                f"{self.name!r} writes its parts; leave it out, or give it with the mode: "
                f"{PERIODIC_FLUSHING}:format={chosen}"
            )
        return chosen

    @property
    def key(self) -> str:
        """Sessions with equal keys would write the same file: they are one session."""
        return self.stem if self.stem is not None else "-"

    def differences(self, other: SessionOptions) -> list[str]:
        """`"context is 'shadow', not 'python'"` for each option of `self` that `other` changes."""
        names = ["context", "data", "flush_format"]
        if self.backend == other.backend:  # a second backend brings its own mode and hook
            names += ["mode", "hook"]
        return [
            f"{_SPELLING.get(name, name)} is {getattr(self, name)!r}, not {getattr(other, name)!r}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]


_SPELLING = {"flush_format": f"format of mode {PERIODIC_FLUSHING!r}"}


def resolve(request: SessionRequest) -> SessionOptions:
    """What a request and the environment come to.

    Raises:
        UsageError: an argument or an environment variable has a value that means nothing.
        BackendUnavailable: instructions are to be sampled, and there is no GPU.
    """
    name, data = _check_name(request.name), request.data
    if request.context not in CONTEXTS:
        raise UsageError.unknown("context", request.context, choices=CONTEXTS)
    if data not in DATA_KINDS:
        raise UsageError.unknown("data", data, choices=DATA_KINDS)
    knobs = read_knobs()
    backend = _check_backend(request.backend, knobs)
    mode, mode_object, flush_format = _check_mode(request, backend, knobs)
    return SessionOptions(
        name=name,
        stem=None if name in STDOUT_NAMES else _make_stem(name, data),
        context=request.context,
        data=data,
        backend=backend,
        mode=mode,
        flush_format=flush_format,
        hook=_check_hook(request.hook),
        knobs=knobs,
        journal_interval_s=_read_seconds("PROTON_JOURNAL_INTERVAL", JOURNAL_INTERVAL_S),
        catches_signals=_read_bool({}, "catches_signals", default=True),
        mode_object=mode_object,
        output_format=request.output_format,
    )


def _check_name(name: str | os.PathLike[str] | None) -> str:
    if name is None:
        return DEFAULT_PROFILE_NAME
    text = os.fspath(name) if isinstance(name, os.PathLike) else name
    if not isinstance(text, str):
        raise UsageError(f"name must be a str or a path, not {name!r}")
    if "\0" in text:
        raise UsageError(f"name {text!r} has a NUL in it; no file can be called that")
    if text.endswith(os.sep) or os.path.basename(text) in (".", ".."):
        raise UsageError(f"name {text!r} is a folder; add the name of the profile")
    return text


def _check_backend(backend: str | None, knobs: Knobs) -> str:
    if backend is None:
        return choose_backend(knobs).name
    if not isinstance(backend, str) or _rename(backend) not in BACKENDS:
        raise UsageError.unknown("backend", backend, choices=BACKENDS)
    return _rename(backend)


def _rename(backend: str) -> str:
    return _RENAMED.get(backend.lower(), backend.lower())


def _check_hook(hook: Hook | str | None) -> Hook | str | None:
    if isinstance(hook, LaunchHook):
        return "triton"  # there is only one of them
    if hook is None or hook == "triton" or isinstance(hook, Hook):
        return hook
    raise UsageError(f"unknown hook {hook!r}; give None, 'triton' or a proton.hooks.Hook")


def _check_mode(
    request: SessionRequest, backend: str, knobs: Knobs
) -> tuple[str, InstrumentationMode | None, str | None]:
    """The backend's mode, the object it is the text of, and the format to flush phases in."""
    if backend == "instrumentation":
        in_kernel = parse_instrumentation(cast("str | BaseMode | None", request.mode))
        return str(in_kernel), in_kernel, None
    modes = split_modes(str(request.mode or ""))
    if backend == "interpreter" and any(mode.name == SAMPLING for mode in modes):
        raise _no_sampling(request.backend is not None, knobs)
    known = _MODES.get(backend)
    for mode in modes if known is not None else ():
        assert known is not None
        if mode.name not in known:
            raise UsageError.unknown(f"mode of backend {backend!r}", mode.name, choices=known)
        for option in mode.options:
            if option not in known[mode.name]:
                raise UsageError.unknown(
                    f"option of mode {mode.name!r}", option, choices=known[mode.name]
                )
    text, flush_format = _split_flushing(modes, request.data)
    if backend == "cupti":
        text = str(parse_mode(text))  # refused now, and equal ones become equal
    return text, None, flush_format


def _no_sampling(is_named: bool, knobs: Knobs) -> UsageError | BackendUnavailable:
    """Why the interpreter's kernels cannot be sampled, and what can be done instead."""
    remedy = "leave the mode out to time and count interpreted kernels"
    if is_named:
        return UsageError(
            f"mode {SAMPLING!r} samples instructions of a GPU, and backend 'interpreter' uses "
            f"none; name backend 'cupti' on a machine with an NVIDIA GPU, or {remedy}"
        )
    reason = f"mode {SAMPLING!r} needs an NVIDIA GPU, and {choose_backend(knobs).reason}"
    return BackendUnavailable("cupti", reason=reason, remedy=f"use a machine with one, or {remedy}")


def _split_flushing(modes: tuple[ModeText, ...], data: str) -> tuple[str, str | None]:
    """The mode for the backend, and the format to flush phases in, if that was asked for."""
    flush_format = None
    for mode in modes:
        if mode.name == PERIODIC_FLUSHING:
            flush_format = pick_format(mode.options.get("format", ""), data)
    return "+".join(str(mode) for mode in modes if mode.name != PERIODIC_FLUSHING), flush_format


def _make_stem(name: str, data: str) -> str:
    stem = os.path.abspath(_fill_name(name))
    size = len(os.fsencode(os.path.basename(file_name(stem, pick_format("", data)))))
    if size > LONGEST_NAME_BYTES:
        raise UsageError(
            f"name {name!r} is too long: with its suffix it has {size} bytes, and the name of a "
            f"file may have {LONGEST_NAME_BYTES}; give a shorter one"
        )
    return stem


def _fill_name(name: str) -> str:
    if "{" not in name:
        return name
    rank = read_rank(strict="{rank}" in name)
    host = os.uname().nodename
    return fill(name, {"pid": os.getpid(), "rank": 0 if rank is None else rank, "host": host})


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
    return _read_bool(_triton_knobs(), "disable")


def read_knobs() -> Knobs:
    """All knobs: values set on `triton.knobs.proton` win over the environment.

    Raises:
        UsageError: a variable's value cannot be read; it names variable, value and choices.
    """
    knobs = _triton_knobs()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return Knobs(
        disable=_read_bool(knobs, "disable"),
        enable_nvtx=_read_bool(knobs, "enable_nvtx", default=True),
        enable_hw_trace=_read_bool(knobs, "enable_hw_trace"),
        cupti_lib_dir=_read_text(
            knobs, "cupti_lib_dir", "TRITON_CUPTI_LIB_PATH", "TRITON_CUPTI_LIB_DIR"
        ),
        cupti_lib_blackwell_dir=_read_text(
            knobs, "cupti_lib_blackwell_dir", "TRITON_CUPTI_LIB_BLACKWELL_PATH"
        ),
        profile_buffer_size=_read_size(knobs, "profile_buffer_size"),
        profile_metric_buffer_size=_read_size(knobs, "profile_metric_buffer_size"),
        data_flush_timing=_read_bool({}, "data_flush_timing"),
        graph_launch_timing=_read_bool({}, "graph_launch_timing"),
        cuda_library=os.environ.get("PROTON_CUDA_LIBRARY") or None,
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
        partial(_read_seconds, "PROTON_JOURNAL_INTERVAL", JOURNAL_INTERVAL_S),
    ]
    problems = []
    for read in reads:
        try:
            read()
        except UsageError as error:
            problems.append(str(error))
    return problems


def _triton_knobs() -> Mapping[str, Any]:
    """What the program set on `triton.knobs.proton`; empty while Triton is not imported."""
    knobs = getattr(sys.modules.get("triton.knobs"), "proton", None)
    return getattr(knobs, "__dict__", {})


def _read_bool(knobs: Mapping[str, Any], knob: str, *, default: bool = False) -> bool:
    place, value = _find(knobs, knob, _SWITCHES[knob])
    text = str(value).lower()
    if value is None or text == "":
        return default
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _unparsable(place, value, "one of 1, true, yes, on, y or 0, false, no, off, n")


def _read_text(knobs: Mapping[str, Any], knob: str, *variables: str) -> str | None:
    place, value = _find(knobs, knob, *variables)
    if value is None or isinstance(value, str):
        return value or None
    try:
        return os.fsdecode(value)
    except TypeError:
        raise _unparsable(place, value, "a path") from None


def _read_size(knobs: Mapping[str, Any], knob: str) -> int:
    place, value = _find(knobs, knob, _SIZES[knob])
    text = str(value)
    if value is None or text == "":
        return 0
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise _unparsable(place, value, "a whole number of bytes above 0")
    if len(text) >= _SIZE_DIGITS:
        raise _unparsable(place, value, "a number of bytes that a machine can have")
    return int(text)


def _find(knobs: Mapping[str, Any], knob: str, *variables: str) -> tuple[str, Any]:
    """Where a switch is set, in words, and its value there; None: nowhere."""
    if knobs.get(knob) is not None:
        return f"triton.knobs.proton.{knob}", knobs[knob]
    for variable in variables:
        if os.environ.get(variable):
            return f"environment variable {variable}", os.environ[variable]
    return "", None


def _read_seconds(variable: str, default: float) -> float:
    text = os.environ.get(variable)
    if text is None or text == "":
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if 0 <= seconds < math.inf:
        return seconds
    raise _unparsable(
        f"environment variable {variable}", text, "a number of seconds, or 0 for never"
    )


def _unparsable(place: str, value: object, accepted: str) -> UsageError:
    return UsageError(f"{place}={value!r} cannot be read; give {accepted}")
