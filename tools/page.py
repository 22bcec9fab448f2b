"""Builds the page that shows profiles, where Node is there to do it.

Usage: python -m tools.page [--optional | --check]
Nothing happens where the built page is newer than its sources. `--optional`, for `make demo`: what
is missing is a warning, not a failure. `--check`, for tests: types and unit tests before the build;
skipped aloud without Node, unless PROTON_REQUIRE_WEB=1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import progress

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "proton" / "render" / "assets" / "page.html"
OLDEST_NODE = (20, 19)
# Not `npm ci`: it insists on packages of platforms that an index may not have. Versions come from
# package-lock.json, which stays as it is. An index that does not answer is given up on soon.
INSTALL = ("install", "--no-save", "--prefer-offline", "--fetch-retries=1", "--fetch-timeout=60000")


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f"== {text}", flush=True)


def missing() -> str:
    """What the build lacks on this machine; empty where nothing is."""
    if shutil.which("npm") is None:
        return "Node and npm are not installed"
    reply = subprocess.run(["node", "--version"], capture_output=True, text=True)
    version = reply.stdout.strip()
    numbers = version.removeprefix("v").split(".")
    if len(numbers) < 2 or tuple(map(int, numbers[:2])) < OLDEST_NODE:
        wanted = ".".join(map(str, OLDEST_NODE))
        return f"Node {version or 'of unknown version'} is too old, {wanted} or newer is needed"
    return ""


def sources(web: Path) -> Iterator[Path]:
    """The files that the page is made of; tests are none of them."""
    names = ("package.json", "package-lock.json", "page.html", "tsconfig.json", "vite.config.ts")
    yield from (web / name for name in names)
    for path in sorted((web / "src").rglob("*")):
        if path.is_file() and not path.name.endswith((".test.ts", ".test.tsx")):
            yield path


def is_current(target: Path, paths: Iterator[Path]) -> bool:
    """Whether `target` is there and newer than all of `paths`."""
    if not target.exists():
        return False
    made = target.stat().st_mtime
    return all(path.stat().st_mtime <= made for path in paths)


def npm(title: str, *words: str) -> int:
    """Run npm in web/, with one line of progress under the title."""
    return progress.run(title, ["npm", "--prefix", str(WEB), *words])


def install() -> int:
    """The page's packages, where they are not there yet."""
    stamp = WEB / "node_modules" / ".stamp"
    if is_current(stamp, iter((WEB / "package.json", WEB / "package-lock.json"))):
        return 0
    status = npm("installing the page's packages (half a minute)", *INSTALL)
    if status == 0:
        stamp.touch()
    return status


def build() -> int:
    """The page, where it is older than its sources."""
    if is_current(PAGE, sources(WEB)):
        return 0
    if status := install():
        return status
    if status := npm("building the page", "run", "--silent", "build"):
        return status
    PAGE.touch()
    return 0


def check() -> int:
    """Types, unit tests, build."""
    return (
        install()
        or npm("types of the page: tsc --strict", "run", "--silent", "types")
        or npm("unit tests of the page: vitest", "run", "--silent", "test")
        or build()
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Build the page as the words say; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--optional", action="store_true", help="only warn where it cannot be built")
    kinds.add_argument("--check", action="store_true", help="types and unit tests first")
    arguments = parser.parse_args(argv)
    if arguments.optional and is_current(PAGE, sources(WEB)):
        return 0
    if why := missing():
        is_required = not (arguments.optional or arguments.check)
        if is_required or (arguments.check and os.environ.get("PROTON_REQUIRE_WEB") == "1"):
            print(f"make: the page cannot be built: {why}", file=sys.stderr, flush=True)
            return 1
        what = "TESTS OF THE PAGE ARE SKIPPED" if arguments.check else "THE PAGE IS NOT BUILT"
        say(f"{what}: {why}; proton report needs it, all else works without")
        return 0
    status = check() if arguments.check else build()
    if status and arguments.optional:
        say("THE PAGE IS NOT BUILT, see above; try again with: make web (all else works without)")
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())
