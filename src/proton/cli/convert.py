"""`proton convert INPUT OUTPUT`: the same profile in the format that OUTPUT's suffix names."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from proton.errors import UsageError

USAGE = """\
usage: proton convert INPUT OUTPUT

Reads a profile of any format and writes it in the one that OUTPUT's suffix names: .hatchet (JSON)
or .hatchet_msgpack for a tree, .chrome_trace or .pftrace (Perfetto's own, a fraction of the size)
for a trace. A set of .part_N files is read as one.
example: proton convert run.hatchet_msgpack run.hatchet"""


def run(words: Sequence[str]) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, the input is no profile, or the output cannot be written.
    """
    if any(word in ("-h", "--help") for word in words):
        print(USAGE)
        return 0
    source, destination = _paths(words)
    from proton.files.detect import open_profile  # readers load msgpack: not for --help
    from proton.files.schema import FORMAT_OF_SUFFIX
    from proton.files.write import write_profile

    output_format = FORMAT_OF_SUFFIX.get(os.path.splitext(destination)[1].removeprefix("."))
    if output_format is None:
        raise UsageError(
            f"{destination}: the suffix names no format; end it in "
            + " or ".join(f".{suffix}" for suffix in FORMAT_OF_SUFFIX)
        )
    profile = open_profile(source)
    write_profile(profile, destination, output_format)
    lines = [*profile.warnings, f"wrote {destination}"]
    print(*(f"proton: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def _paths(words: Sequence[str]) -> tuple[str, str]:
    for word in words:
        if word.startswith("-"):
            raise UsageError(f"convert: unknown option {word!r}; see: proton convert --help")
    if len(words) != 2:
        raise UsageError(
            f"convert needs two files and got {len(words)}; "
            "as in: proton convert run.hatchet_msgpack run.hatchet"
        )
    source, destination = words
    if os.path.realpath(source) == os.path.realpath(destination):
        raise UsageError(f"{destination}: is the input itself; give the output another name")
    return source, destination
