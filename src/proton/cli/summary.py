"""What the user reads on stderr when a profiled run has ended."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Mapping

from proton.runtime.command_line import Ending
from proton.runtime.notices import list_losses


def describe(ending: Ending, *, folder: str, quiet: bool) -> list[str]:
    """The lines for a run's end, without the `proton: ` in front; paths as seen from `folder`."""
    lines = []
    paths = [path.removeprefix(f"{folder.rstrip('/')}/") for path in ending.paths]
    lines += ending.error.splitlines()
    if ending.is_empty:
        lines.append(f"nothing was captured: {ending.missed or _why_empty()}")
    if quiet:
        return lines
    if paths:
        lines.append(f"wrote {_files(paths)}{_losses(ending.losses)}; {_next(paths[0])}")
    elif ending.losses:
        lines.append(f"the profile is not complete{_losses(ending.losses)}")
    return lines


def _why_empty() -> str:
    """What the target did not do, and what to do about it."""
    if "triton" not in sys.modules:
        reason = "the target imported no Triton and entered no scope"
    else:
        reason = "the target launched no Triton kernel and entered no scope while it was recorded"
    return f"{reason}; mark regions with proton.scope, or check the machine with: proton doctor"


def say(lines: list[str]) -> None:
    """Print to stderr, where there still is one."""
    if sys.stderr is None:
        return
    try:
        for line in lines:
            print(f"proton: {line}", file=sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):  # closed, or nobody reads it any more
        sys.stderr = io.StringIO()  # what could not be written would fail again, and the exit code


def _files(paths: list[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    return f"{len(paths)} files, {paths[0]} to {paths[-1]}"


def _losses(losses: Mapping[str, int]) -> str:
    if not losses:
        return ""
    return f" (lost: {list_losses(losses)})"


def _next(path: str) -> str:
    if path.endswith((".chrome_trace", ".pftrace")):
        return "open it in https://ui.perfetto.dev"
    return f"see it with: proton-viewer {shlex.quote(path)}"
