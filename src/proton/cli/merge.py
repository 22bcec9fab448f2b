"""`proton merge A B... -o OUT`: the profiles of several ranks or processes as one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proton.cli.progress import busy, track
from proton.errors import UsageError

USAGE = """\
usage: proton merge A B... -o OUT [--by-order] [--skip-broken]

Makes one profile of those of several ranks or processes. A, B, ... are profiles, or folders with
profiles in them. OUT's suffix names its format: .hatchet or .hatchet_msgpack for trees,
.chrome_trace or .pftrace for traces.
Values are summed by path; how the time of ranks spreads is kept for every context, and
proton-viewer shows it as rank_min, rank_median, rank_max and slowest_rank.
A file says its rank in its header, or in its name as rank_3; files that say none are numbered as
given. Whatever does not fit stops the command with one line, and nothing is written.

options:
  -o, --output OUT   where to
  --by-order         number the ranks as given, whatever the files say
  --skip-broken      leave out files that cannot be read; how many is kept in OUT

examples:
  proton merge run.rank_0.hatchet run.rank_1.hatchet -o run.hatchet
  proton merge profiles/ -o run.hatchet_msgpack
  proton merge --by-order proton.*.hatchet -o all.hatchet
  proton-viewer run.hatchet"""


@dataclass(frozen=True, slots=True)
class Request:
    """The words of the command."""

    names: tuple[str, ...]
    output: str
    by_order: bool = False
    skip_broken: bool = False


def run(words: Sequence[str]) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, a profile cannot be read, ranks do not match, or the output
            cannot be written.
    """
    if any(word in ("-h", "--help") for word in words):
        print(USAGE)
        return 0
    request = _parse(words)
    from proton.files.rank_files import find_files, merge_files  # readers: not for --help
    from proton.files.schema import FORMAT_OF_SUFFIX
    from proton.files.write import write_profile

    suffix = os.path.splitext(request.output)[1].removeprefix(".")
    if suffix not in FORMAT_OF_SUFFIX:
        endings = ", ".join(f".{known}" for known in FORMAT_OF_SUFFIX)
        raise UsageError(f"{request.output}: the suffix names no format; end it in {endings}")
    paths = find_files(request.names, request.output)
    if len(paths) < 2:
        raise UsageError(f"{paths[0]}: one profile alone; merge needs two or more")
    if os.path.realpath(request.output) in map(os.path.realpath, paths):
        raise UsageError(f"{request.output}: is one of the inputs; give the output another name")

    def shown(paths: Sequence[str]) -> Iterable[str]:
        return track(paths, "merging", len(paths))

    merged = merge_files(
        paths,
        request.output,
        by_order=request.by_order,
        skip_broken=request.skip_broken,
        track=shown,
    )
    with busy(f"writing {request.output}"):
        write_profile(merged, request.output)
    lines = [*merged.warnings, f"wrote {request.output}: {len(merged.ranks)} ranks"]
    print(*(f"proton: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def _parse(words: Sequence[str]) -> Request:
    names: list[str] = []
    output: str | None = None
    flags = {"--by-order": False, "--skip-broken": False}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-o", "--output"):
            if not rest:
                raise UsageError(f"merge: {word} needs a file; as in: -o run.hatchet")
            output = rest.pop(0)
        elif word.startswith("--output="):
            output = word.partition("=")[2]
        elif word in flags:
            flags[word] = True
        elif word.startswith("-"):
            raise UsageError(f"merge: unknown option {word!r}; see: proton merge --help")
        else:
            names.append(word)
    if not names or not output:
        what = "the profiles to merge" if not names else "a place for the result"
        raise UsageError(
            f"merge needs {what}; as in: proton merge a.hatchet b.hatchet -o all.hatchet"
        )
    return Request(tuple(names), output, flags["--by-order"], flags["--skip-broken"])
