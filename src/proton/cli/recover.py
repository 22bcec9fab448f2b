"""`proton recover FILE`: the profile of a process that was killed, from the journal it left."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from proton.cli import say
from proton.cli.outputs import (
    add_force,
    choose_output,
    is_plain_file,
    name_of,
    write_output,
)
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy
from proton.errors import FormatError, UsageError
from proton.files.journal.format import SUFFIX, is_alive, is_elsewhere, read_facts
from proton.model.profile import Profile

USAGE = "FILE [-o OUTPUT] [--keep] [--force]"
DESCRIPTION = """\
Rebuilds a profile from the journal that a killed process left. FILE is the journal (run.partial),
the name of the profile (run, run.hatchet) or one of its parts (run.part_3.hatchet).
Parts that the process had written stay as they are; the open part is written beside them."""

EXAMPLES = """\
examples:
  proton recover run.hatchet
  proton recover run.partial -o run.hatchet --keep"""


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    add = parser.add_argument
    add("files", nargs="*")
    add("-o", "--output", action=Option, metavar="OUTPUT", needs="a file; as in: -o whole.hatchet",
        help="write one profile, all parts included, to this file instead "
        "(- is standard output)")  # fmt: skip
    add("--keep", action="store_true", help="leave the journal where it is")
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, there is no journal, nothing in it can be read, or the
            profile cannot be written.
    """
    names: list[str] = arguments.files
    if len(names) != 1:
        raise UsageError(
            f"recover needs one file and got {len(names)}; as in: proton recover run.hatchet"
        )
    journals = find_journals(names[0])
    if len(journals) > 1 and arguments.output is not None:
        listed = ", ".join(journals)
        raise UsageError(f"{names[0]}: several journals: {listed}; with -o name one of them")
    output = arguments.output
    if output is not None:
        kind = "hatchet"  # any profile may be replaced
        output = choose_output(output, kind, inputs=journals, is_forced=arguments.force)
    failures = []
    for journal in journals:
        try:
            lines = _recover(journal, output, keeps=arguments.keep, is_forced=arguments.force)
        except FormatError as error:
            failures.append(error)
            continue
        say(lines)
    if failures and len(journals) == 1:
        raise failures[0]
    say(map(str, failures))
    return 1 if failures else 0


def find_journals(name: str) -> list[str]:
    """The journals of a profile: `name` itself, or those that stand beside it.

    Raises:
        FormatError: there is none; the message says what there is instead.
    """
    if name.endswith(f".{SUFFIX}"):
        if not os.path.exists(name):
            raise FormatError(f"{name}: no such file")
        if read_facts(name) is None:
            raise FormatError(f"{name}: not a journal of proton")
        return [name]
    stem = _stem_of(name)
    pattern = f"{glob.escape(stem)}.pid_*.{SUFFIX}"
    candidates = [f"{stem}.{SUFFIX}", *sorted(glob.glob(pattern))]
    journals = [path for path in candidates if read_facts(path) is not None]
    if not journals:
        there = _what_is_there(name)
        raise FormatError(f"{name}: nothing to recover: there is no journal {stem}.{SUFFIX}{there}")
    return journals


def _what_is_there(name: str) -> str:
    from proton.files.detect import find_parts

    if parts := find_parts(Path(name)):
        return f" (parts are there: open {parts[min(parts)]}, which shows all of them)"
    return " (the file itself is there: open it)" if os.path.isfile(name) else ""


def _stem_of(name: str) -> str:
    """The path of a profile without its suffix and part."""
    from proton.files.encoding.schema import FORMAT_OF_SUFFIX

    path = Path(name)
    if path.suffix.removeprefix(".") in FORMAT_OF_SUFFIX:
        path = path.with_suffix("")
    if path.suffix.startswith(".part_") and path.suffix[6:].isdigit():
        path = path.with_suffix("")
    return str(path)


def _recover(journal: str, output: str | None, *, keeps: bool, is_forced: bool) -> list[str]:
    """Write what the journal holds; the lines that tell of it."""
    # Readers load msgpack: not for --help.
    from proton.files.detect import join_phases, open_profile
    from proton.files.write import format_for, to_bytes

    facts = read_facts(journal) or {}
    if is_alive(facts) and output is None:
        raise UsageError(
            f"{journal}: process {facts.get('pid')} is still running and will write its profile "
            "itself; to look at it now name another file: -o OUTPUT"
        )
    may_run = is_elsewhere(facts) and not is_forced
    if may_run and output is None:
        raise UsageError(
            f"{journal}: was written on {facts.get('host')!r}, where process {facts.get('pid')} "
            "may still run and need it; recover it there, name another file with -o OUTPUT, or say "
            "with --force that the process has ended"
        )
    with busy(f"reading {journal}"):
        profile = open_profile(journal)
    phase = facts.get("phase") or 0
    written = _written_by(journal, facts, profile)
    if written is not None and output is None:
        lines = [f"{journal}: {written} has all of it already"]
    else:
        target = output or _target(journal, facts)
        if output is None and os.path.exists(target) and not is_forced:
            raise UsageError(
                f"{target}: is the profile of another run; replace it with --force, or name "
                "another file: -o OUTPUT"
            )
        phases = _phases(journal, profile, written)
        if output is not None:
            profile = join_phases(phases, profile.source)
        with busy(f"writing {name_of(target)}"):
            write_output(target, to_bytes(profile, format_for(profile, target)))
        others = [number for number in phases if number != phase or written is not None]
        lines = [*profile.warnings, *_about_parts(others), f"wrote {name_of(target)}"]
    if keeps or is_alive(facts) or may_run:
        return lines
    if output is not None and not is_plain_file(output):
        return [*lines, f"kept {journal}: {name_of(output)} is no file that stays"]
    return lines + _clean(journal, facts)


def _target(journal: str, facts: Mapping[str, object]) -> str:
    from proton.files.encoding.schema import SUFFIXES

    stem = journal.removesuffix(f".{SUFFIX}")
    data = facts.get("data")
    suffix = SUFFIXES.get(str(facts.get("format")))
    suffix = suffix or ("chrome_trace" if data == "trace" else "hatchet")
    phase = facts.get("phase") or 0
    return f"{stem}.part_{phase}.{suffix}" if phase else f"{stem}.{suffix}"


def _phases(journal: str, profile: Profile, written: str | None) -> dict[int, Profile]:
    """What the same run left: the files of its phases, and its journal where that is ahead."""
    from proton.files.detect import find_parts
    from proton.files.growing import read_phases

    paths = list(find_parts(Path(journal.removesuffix(f".{SUFFIX}"))).values())
    if written is not None and Path(written) not in paths:
        paths.append(Path(written))  # the whole, before which old parts do not count
    return read_phases(tuple(paths), Path(journal), profile)[0]


def _read(path: Path) -> Profile | None:
    """One file, without the others of its set; None where it is not whole."""
    from proton.files.detect import open_file

    try:
        return open_file(path, str(path))
    except FormatError:
        return None


def _about_parts(numbers: Sequence[int]) -> list[str]:
    if not numbers:
        return []
    first, last = min(numbers), max(numbers)
    listed = str(first) if first == last else f"{first} to {last}"
    return [f"parts that are whole: phase {listed}"]


def _written_by(journal: str, facts: Mapping[str, object], profile: Profile) -> str | None:
    """The file that the same process wrote after its journal: it was killed just then."""
    from proton.files.growing import has_all

    stem = journal.removesuffix(f".{SUFFIX}")
    target = _target(journal, facts)
    for path in (target, f"{stem}.part_0{Path(target).suffix}"):
        other = _read(Path(path))
        if other and other.phases == profile.phases and has_all(other, profile):
            return path
    return None


def _clean(journal: str, facts: Mapping[str, object]) -> list[str]:
    """Remove the journal, and what the process was writing when it was killed."""
    folder = os.path.dirname(journal) or "."
    pattern = os.path.join(glob.escape(folder), f".proton-{facts.get('pid')}-*.tmp")
    removed = [journal, *glob.glob(pattern)]
    for path in removed:
        with suppress(OSError):
            os.unlink(path)
    return [f"removed {', '.join(removed)}"]
