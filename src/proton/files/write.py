"""Profile -> bytes and files, for profiles that were converted, merged or filtered.

Recordings are written by the native core; what this module writes reads back as an equal profile.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import tempfile
from pathlib import Path

from proton.errors import DataKindError, UsageError, WriteError
from proton.files.encoding import schema
from proton.files.hatchet.tree import to_json, to_msgpack
from proton.files.perfetto.write import to_perfetto
from proton.files.trace.write import to_chrome
from proton.model.profile import Profile, TraceProfile, TreeProfile


def formats_of(profile: Profile) -> tuple[str, ...]:
    """The names of the formats that can hold `profile`."""
    tree = schema.TREE_FORMATS if isinstance(profile, TreeProfile) else ()
    trace = schema.TRACE_FORMATS if isinstance(profile, TraceProfile) else ()
    return tree + trace


def to_bytes(profile: Profile, output_format: str) -> bytes:
    """`profile` as the content of a file.

    Args:
        profile: What to write.
        output_format: `hatchet`, `hatchet_msgpack` (trees), `chrome_trace` or `perfetto`
            (traces).

    Raises:
        UsageError: There is no such format.
        DataKindError: The format holds trees and the profile has none, or the same for traces.
        PackageMissing: The format is written by the native core, which is not installed.
    """
    if output_format not in schema.FORMATS:
        raise UsageError.unknown("output format", output_format, choices=schema.FORMATS)
    if isinstance(profile, TraceProfile) and output_format in schema.TRACE_FORMATS:
        write = to_chrome if output_format == schema.CHROME_TRACE else to_perfetto
        return write(profile, profile.trace)
    if isinstance(profile, TreeProfile) and output_format in schema.TREE_FORMATS:
        encode = to_json if output_format == schema.HATCHET else to_msgpack
        return encode(profile, profile.tree)
    possible = ", ".join(map(repr, formats_of(profile))) or "none"
    is_trace = isinstance(profile, TraceProfile)
    what = "a trace" if is_trace else "a tree"
    other = "a tree" if is_trace else "a trace: record one with data='trace'"
    raise DataKindError(
        f"{profile.source}: is {what}, and format {output_format!r} holds {other}; "
        f"choose one of {possible}"
    )


def write_profile(profile: Profile, path: str | os.PathLike[str], output_format: str = "") -> None:
    """Write `profile` to `path`, which holds either the old content or all of the new.

    Args:
        profile: What to write.
        path: Where to; the folder must exist.
        output_format: As in `to_bytes`; by default what the suffix of `path` says, else the first
            format that can hold the profile.

    Raises:
        UsageError: As in `to_bytes`.
        WriteError: The file cannot be written; the message starts with the path.
    """
    write_file(path, to_bytes(profile, output_format or format_for(profile, path)))


def format_for(profile: Profile, path: str | os.PathLike[str]) -> str:
    """The format that the suffix of `path` names, else the first that can hold `profile`."""
    known = schema.FORMAT_OF_SUFFIX.get(Path(path).suffix.removeprefix("."))
    return known or (*formats_of(profile), schema.HATCHET)[0]


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to `path` by the rule that sessions follow (FileSink of the native core).

    A plain file holds either the old content or all of the new, and keeps its permissions. A link
    stays a link: what it points to is written. A device or a pipe is written to, never replaced.

    Raises:
        WriteError: The file cannot be written; the message starts with the path.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            # By the name as given: /dev/stdout of a pipe leads to `pipe:[1]`, which is no path.
            with open(path, "wb", buffering=0) as stream:  # a folder is refused here
                _write_all(stream, content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise WriteError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from error


def _write_all(stream: io.RawIOBase, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def _replace(target: Path, content: bytes) -> None:
    """Write beside `target` and rename, so that nobody ever sees half a file."""
    mode = 0o666 & ~_umask()
    if target.exists():
        # A rename would replace a read-only file without asking.
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(target.stat().st_mode)
    handle, name = tempfile.mkstemp(prefix=".proton-", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
