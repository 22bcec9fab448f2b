"""Profiles of child processes: `--follow-children`, and nothing at all without it.

A new interpreter is reached by its environment: PYTHONPATH leads to `bootstrap/sitecustomize.py`,
which calls `start_child`. A forked child takes over in the parent's place right after the fork.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from proton.cli import say
from proton.cli.profiled_run import ProfiledRun
from proton.errors import ProtonError
from proton.runtime import command_line
from proton.runtime.options import file_name, split_suffix
from proton.runtime.request import DEFAULT_PROFILE_NAME, STDOUT_NAMES, SessionRequest

VARIABLE = "PROTON_FOLLOW_CHILDREN"
BOOTSTRAP = str(Path(__file__).parent / "bootstrap")
_followed: ProfiledRun | None = None  # what this process records because a parent was asked to


def leave_children_alone() -> None:
    """Make forked children plain processes: no session, and `proton.start` is their own again."""
    os.register_at_fork(after_in_child=command_line.forget)


def follow_children(run: ProfiledRun) -> None:
    """Have every Python process below this one record a profile of its own."""
    name = run.request.name
    # a child may work in another folder, and the terminal ("-") belongs to the parent
    name = DEFAULT_PROFILE_NAME if name is None or name in STDOUT_NAMES else name
    run.request = run.request._replace(name=os.path.abspath(os.path.expanduser(name)))
    run.follows_children = True
    _lead_interpreters_here()
    _tell(run, names_taken=0)
    os.register_at_fork(after_in_child=lambda: _start_forked(run))


def start_child() -> None:
    """Start recording in a new interpreter whose environment asks for it.

    Raises:
        ProtonError: recording cannot be started here.
    """
    global _followed
    wish = json.loads(os.environ[VARIABLE])
    request = SessionRequest(**wish["request"])
    # exec keeps the process id: what the earlier program wrote under it must stay
    names_taken = wish["names_taken"] if wish["pid"] == os.getpid() else 0
    run = ProfiledRun(request, quiet=wish["quiet"], folder=wish["folder"], is_child=True)
    run.start(child_name(str(request.name), names_taken))
    _tell(run, names_taken=names_taken + 1)
    os.register_at_fork(after_in_child=lambda: _start_forked(run))
    _followed = run


def stop_being_followed() -> None:
    """Make room for the session of a `proton` command that is itself a followed child."""
    if _followed is not None:
        _followed.discard()


def child_name(name: str, names_taken: int = 0) -> str:
    """The profile's name in this process, which has had so many of them already."""
    bare, output_format = split_suffix(name)
    if "{pid}" not in bare:
        bare += f".{os.getpid()}"
    if names_taken:
        bare += f".{names_taken}"
    return file_name(bare, output_format) if output_format else bare


def _start_forked(run: ProfiledRun) -> None:
    """Go on in a forked child, with a session of its own in place of the parent's."""
    was_open = run.is_open
    command_line.forget()
    if not was_open:
        return
    run.is_child = True
    run.target_succeeded = True
    try:
        run.start(child_name(str(run.request.name)))
    except ProtonError as error:
        run.is_open = False
        say([f"child process {os.getpid()} is not profiled: {error}"])
    else:
        _tell(run, names_taken=1)


def _tell(run: ProfiledRun, *, names_taken: int) -> None:
    """Put into the environment what children, or a program that replaces this one, will read."""
    wish = {
        "request": run.request._asdict(),
        "quiet": run.quiet,
        "folder": run.folder,
        "pid": os.getpid(),
        "names_taken": names_taken,
    }
    os.environ[VARIABLE] = json.dumps(wish)


def _lead_interpreters_here() -> None:
    """Put our start-up folder in front of PYTHONPATH."""
    path = os.environ.get("PYTHONPATH", "")
    if BOOTSTRAP not in path.split(os.pathsep):  # where an empty part means something: kept
        os.environ["PYTHONPATH"] = f"{BOOTSTRAP}{os.pathsep}{path}" if path else BOOTSTRAP
