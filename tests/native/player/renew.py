"""Writes anew what the recordings of tests/data/streams must give, after a change of the profiles
that was meant: of names, or of where kernels stand.

    python -m tests.native.player.renew [NAME ...]

Refuses where runs or times of a kernel, or losses, are no longer those of the recorded run: then a
recording must be taken anew (tests/gpu/record_streams.py) or something is broken.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.native.recorder.library import ROOT, build_player
from tests.native.recorder.truth import SEPARATOR, Row, Rows, from_json, losses_of, profiles_of

STREAMS = ROOT / "tests" / "data" / "streams"


def totals(profiles: dict[str, Rows]) -> dict[str, Row]:
    """Name of a kernel -> runs and time, wherever it stands."""
    found: dict[str, Row] = defaultdict(lambda: (0, 0))
    for rows in profiles.values():
        for path, (count, time_ns) in rows.items():
            name = path.rpartition(SEPARATOR)[2]
            found[name] = found[name][0] + count, found[name][1] + time_ns
    return dict(found)


def renew(name: str, player: Path) -> str:
    """Replay one recording and store its profiles; what came of it."""
    file = STREAMS / f"{name}.json"
    truth = json.loads(file.read_text())
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        recording = folder / "recording"
        recording.write_bytes(gzip.decompress((STREAMS / f"{name}.rec.gz").read_bytes()))
        subprocess.run(
            [sys.executable, "-m", "tests.native.player.replay", str(player), str(recording)],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=100,
        )
        profiles, losses = profiles_of(folder), losses_of(folder)
    before = from_json(truth["profiles"])
    if profiles == before and losses == truth["losses"]:
        return "as it was"
    if totals(profiles) != totals(before) or losses != truth["losses"]:
        return "refused: runs, times or losses differ from the recorded run"
    truth["profiles"] = profiles
    file.write_text(json.dumps(truth, indent=0) + "\n")
    return "written anew"


def main(names: list[str]) -> int:
    """Renew these, or all; 1 if one was refused."""
    player = build_player()
    every = [path.name.removesuffix(".rec.gz") for path in sorted(STREAMS.glob("*.rec.gz"))]
    results = {name: renew(name, player) for name in names or every}
    for name, result in results.items():
        print(f"{name}: {result}")
    return int(any(result.startswith("refused") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
