"""Puts serialized phases where they belong: a file, standard output, or a fallback file."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress

from proton import _native
from proton.errors import WriteError
from proton.runtime.file_names import LONGEST_NAME_BYTES, TEXT_FORMATS, file_name

Header = Mapping[str, object]


def write_phase(
    native: _native.Session,
    stem: str,
    output_format: str,
    phase: int,
    header: Header,
    *,
    part: int | None,
) -> str:
    """Write one phase to a file; the path it went to.

    Raises:
        WriteError: it could not be written there. `rescued_to` of the error is the path of the
            fallback file that holds it instead, None when there is no room anywhere.
    """
    path = file_name(stem, output_format, part)
    try:
        write_file(native, path, output_format, phase, header)
    except OSError as error:
        raise _rescue(native, path, output_format, phase, header, error) from error
    return path


def print_phase(native: _native.Session, output_format: str, phase: int, header: Header) -> None:
    """Write one phase to standard output, a line of its own.

    Raises:
        WriteError: standard output is closed or full; the error names the fallback file.
    """
    content = native.serialize(output_format, phase, header)
    try:
        stream = sys.stdout
        if stream is None:
            raise OSError("there is no standard output")
        if output_format not in TEXT_FORMATS:
            if not hasattr(stream, "buffer"):
                raise OSError("standard output takes text only")
            stream.flush()
            stream.buffer.write(content)
        else:
            stream.write(content.decode() + "\n")
        stream.flush()
    except (OSError, ValueError) as error:  # a closed stream raises ValueError
        path = file_name("proton", output_format)
        cause = error if isinstance(error, OSError) else OSError(str(error))
        failure = _rescue(native, path, output_format, phase, header, cause, shown="<stdout>")
        raise failure from error


def write_file(
    native: _native.Session, path: str, output_format: str, phase: int, header: Header
) -> None:
    """Write one phase to `path` or nowhere; OSError."""
    target = os.path.realpath(path)  # a link stays a link: what it points to is replaced
    if _is_special(target):  # a device or a pipe can be written to, not replaced
        with open(target, "wb", buffering=0) as stream:
            content = memoryview(native.serialize(output_format, phase, header))
            while content:
                content = content[stream.write(content) :]
        return
    native.write(target, output_format, phase, header)


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _rescue(
    native: _native.Session,
    path: str,
    output_format: str,
    phase: int,
    header: Header,
    cause: OSError,
    *,
    shown: str | None = None,
) -> WriteError:
    """Write to the first place that takes it; the error that says what happened."""
    reason = cause.strerror or str(cause)
    rescued_to = None
    for fallback in _fallbacks(path):
        with suppress(OSError):
            native.write(fallback, output_format, phase, header)
            rescued_to = fallback
            break
    if rescued_to is not None:
        outcome = f"it was written to {rescued_to!r} instead"
    else:
        outcome = "no fallback could be written either; make room and finalize the session again"
    error = WriteError(f"{shown or path}: cannot write the profile: {reason}; {outcome}")
    error.errno = cause.errno
    error.rescued_to = rescued_to
    return error


def _fallbacks(path: str) -> Iterator[str]:
    """Paths to try when `path` cannot be written, none of which exists yet."""
    base, dot, suffix = os.path.basename(path).rpartition(".")
    for folder in (tempfile.gettempdir(), os.path.expanduser("~"), os.getcwd()):
        for n in range(1000):
            extra = f".pid_{os.getpid()}" + (f"_{n}" if n else "") + dot + suffix
            short = os.fsencode(base)[: LONGEST_NAME_BYTES - len(extra)].decode(errors="ignore")
            candidate = os.path.join(folder, f"{short}{extra}")
            if not os.path.lexists(candidate):
                yield candidate
                break
