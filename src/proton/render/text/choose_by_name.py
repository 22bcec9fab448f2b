"""Which one a person means: names found by a part of them, candidates listed where that fails."""

from __future__ import annotations

from collections.abc import Sequence

from proton.errors import UsageError
from proton.render.display_names import printable

_MOST_LISTED = 12


def choose_file(wanted: str, files: Sequence[str]) -> str:
    """The one of `files` that is `wanted` or ends in it, folder by folder.

    Raises:
        UsageError: None or several do; the message lists the candidates.
    """
    if wanted in files:
        return wanted
    parts = [part for part in wanted.split("/") if part not in ("", ".")]
    found = [file for file in files if parts and file.split("/")[-len(parts) :] == parts]
    if not found and wanted.startswith("/"):  # the recording may have less of the path
        found = [file for file in files if wanted.endswith(f"/{file}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"--source {wanted!r} means several files: {_listed(found)}; give more of the path"
        )
    raise UsageError(f"--source {wanted!r} is not a sampled file; there are: {_listed(files)}")


def choose_kernel(
    wanted: str,
    kernels: Sequence[tuple[str, ...]],
    *,
    option: str = "--sass",
    what: str = "a sampled",
) -> int:
    """The place of the kernel one of whose names is `wanted`, else has it as a part.

    Raises:
        UsageError: None or several have; the message lists the candidates.
    """
    exact = [at for at, names in enumerate(kernels) if wanted in names]
    found = exact or [
        at for at, names in enumerate(kernels) if any(wanted in name for name in names)
    ]
    if len(found) == 1:
        return found[0]
    names = [kernels[at][-1] for at in found] or [names[-1] for names in kernels]
    if found:
        raise UsageError(
            f"{option} {wanted!r} means several kernels: {_listed(names)}; give more of the name"
        )
    raise UsageError(f"{option} {wanted!r} is not {what} kernel; there are: {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
