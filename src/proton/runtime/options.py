"""A request and the environment become one frozen `SessionOptions`: where options are checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from proton._mode_text import ModeText, split_modes
from proton.backends.common.base import check_backend
from proton.backends.common.knobs import Knobs
from proton.backends.cupti.cupti_mode import OPTIONS as CUPTI_OPTIONS
from proton.backends.cupti.cupti_mode import SAMPLING, parse_mode
from proton.backends.cupti.driver import why_no_gpu
from proton.backends.default_backend import choose_backend
from proton.errors import BackendUnavailable, UsageError
from proton.files.encoding.schema import (
    FORMAT_OF_SUFFIX,
    FORMATS,
    SUFFIXES,
    TRACE_FORMATS,
    TREE_FORMATS,
)
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.runtime.environment import (
    JOURNAL_INTERVAL_S,
    read_journal_interval,
    read_knobs,
    read_rank,
    read_switch,
)
from proton.runtime.frameworks import TIERS
from proton.runtime.hooks import Hook
from proton.runtime.launch_hook import LaunchHook
from proton.runtime.request import (
    DEFAULT_PROFILE_NAME,
    FITTING_CONTEXT,
    STDOUT_NAMES,
    SessionRequest,
)

CONTEXTS = ("shadow", "python", *TIERS)
FORMATS_OF = {"tree": TREE_FORMATS, "trace": TRACE_FORMATS}  # data kind -> the default first
LONGEST_NAME_BYTES = 255  # of a file in its folder, suffix included
PERIODIC_FLUSHING = "periodic_flushing"

# backend -> mode -> its options (None: the mode checks them); a backend that is not listed checks
# its mode itself
_MODES: dict[str, dict[str, tuple[str, ...] | None]] = {
    "cupti": {"": tuple(CUPTI_OPTIONS), SAMPLING: None, PERIODIC_FLUSHING: ("format",)},
    "rocprofiler": {SAMPLING: ("interval",), PERIODIC_FLUSHING: ("format",)},
    "interpreter": {PERIODIC_FLUSHING: ("format",)},
}
_RENAMED = {"roctracer": "rocprofiler"}


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
        waits_for_framework: contexts are scopes alone until the program imports a framework.
        journal_interval_s: how often the open phase is saved in the journal; 0: never.
        catches_signals: whether SIGTERM and SIGHUP write the profile before they end the process.
        output_format: what to write at the end, where the `proton` command or a suffix in the
            name said it.
        notices: what the user should be told about these options.
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
    waits_for_framework: bool = False
    output_format: str = ""
    notices: tuple[str, ...] = ()

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
    if request.context not in (*CONTEXTS, FITTING_CONTEXT):
        raise UsageError.unknown("context", request.context, choices=CONTEXTS)
    if data not in FORMATS_OF:
        raise UsageError.unknown("data", data, choices=FORMATS_OF)
    knobs = read_knobs()
    backend = _check_backend(request.backend, knobs)
    bare, named_format, notices = _take_suffix(name, data)
    mode, mode_object, flush_format = _check_mode(request, backend, knobs, named_format)
    return SessionOptions(
        name=name,
        stem=None if name in STDOUT_NAMES else _make_stem(bare, data),
        context=request.context or _fitting_tier(knobs),
        data=data,
        backend=backend,
        mode=mode,
        flush_format=flush_format,
        hook=_check_hook(request.hook),
        knobs=knobs,
        journal_interval_s=read_journal_interval(),
        catches_signals=read_switch("catches_signals", default=True),
        mode_object=mode_object,
        waits_for_framework=request.context == FITTING_CONTEXT,
        output_format=request.output_format or named_format,
        notices=notices,
    )


def _fitting_tier(knobs: Knobs) -> str:
    """With a GPU kernels say what ran; without one only operators do."""
    return "blame" if why_no_gpu(knobs) is None else "ops"


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
    if not split_suffix(text)[1] and _is_special(os.path.expanduser(text)):
        raise UsageError(
            f"name {text!r} is a device or pipe, and a suffix would be added to it; name a file, "
            "or '-' for standard output"
        )
    return text


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def split_suffix(name: str) -> tuple[str, str]:
    """A name without the suffix of a known format, and that format; `""` where it has none."""
    bare, _, suffix = name.rpartition(".")
    known = FORMAT_OF_SUFFIX.get(suffix, "")
    return (bare, known) if known and os.path.basename(bare) else (name, "")


def _take_suffix(name: str, data: str) -> tuple[str, str, tuple[str, ...]]:
    """The name without suffix, the format that it names, and what is to be said about it."""
    bare, named_format = split_suffix(name)
    if not named_format or named_format in FORMATS_OF[data]:
        return bare, named_format, ()
    written = file_name(os.path.basename(name), FORMATS_OF[data][0])
    text = (
        f"name {name!r}: a {data} session cannot be written as {named_format!r}; "
        f"its file will be called {written!r}"
    )
    return name, "", (text,)


def _check_backend(backend: str | None, knobs: Knobs) -> str:
    if backend is None:
        return choose_backend(knobs).name
    is_text = isinstance(backend, str)
    check_backend(_RENAMED.get(backend.lower(), backend) if is_text else backend)
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
    request: SessionRequest, backend: str, knobs: Knobs, named_format: str
) -> tuple[str, InstrumentationMode | None, str | None]:
    """The backend's mode, the object it is the text of, and the format to flush phases in."""
    if backend == "instrumentation":
        in_kernel = parse_instrumentation(request.mode)
        return str(in_kernel), in_kernel, None
    modes = split_modes(str(request.mode or ""))
    if backend == "interpreter" and any(mode.name == SAMPLING for mode in modes):
        raise _no_sampling(request.backend is not None, knobs)
    known = _MODES.get(backend)
    for mode in modes if known is not None else ():
        assert known is not None
        if mode.name not in known:
            raise UsageError.unknown(f"mode of backend {backend!r}", mode.name, choices=known)
        if (options := known[mode.name]) is None:
            continue
        for option in mode.options:
            if option not in options:
                raise UsageError.unknown(f"option of mode {mode.name!r}", option, choices=options)
    text, flush_format = _split_flushing(modes, request.data, named_format)
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


def _split_flushing(
    modes: tuple[ModeText, ...], data: str, named_format: str
) -> tuple[str, str | None]:
    """The mode for the backend, and the format to flush phases in, if that was asked for."""
    flush_format = None
    for mode in modes:
        if mode.name == PERIODIC_FLUSHING:
            flush_format = pick_format(mode.options.get("format", named_format), data)
    return "+".join(str(mode) for mode in modes if mode.name != PERIODIC_FLUSHING), flush_format


def _make_stem(name: str, data: str) -> str:
    stem = os.path.abspath(os.path.expanduser(_fill_name(name)))
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


def fill(name: str, values: Mapping[str, object]) -> str:
    """`name` with each `{key}` of `values` filled in; other braces stay as they are."""
    for key, value in values.items():
        name = name.replace(f"{{{key}}}", str(value))
    return name


def pick_format(output_format: str, data: str) -> str:
    """The format to write a `data` session in; `""` picks the default.

    Raises:
        UsageError: no such format, or it cannot hold this kind of data.
    """
    if output_format == "":
        return FORMATS_OF[data][0]
    if output_format not in FORMATS:
        raise UsageError.unknown("output format", output_format, choices=FORMATS)
    if output_format not in FORMATS_OF[data]:
        choices = ", ".join(map(repr, FORMATS_OF[data]))
        raise UsageError(
            f"output format {output_format!r} cannot hold a {data} session; choose one of {choices}"
        )
    return output_format


def file_name(stem: str, output_format: str, part: int | None = None) -> str:
    """`run.hatchet`, or `run.part_3.hatchet` for a phase of a session that has several."""
    middle = "" if part is None else f".part_{part}"
    return f"{stem}{middle}.{SUFFIXES[output_format]}"
