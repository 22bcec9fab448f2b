"""Checks what linters do not: sizes, layout, include order, words, ratchets, the page.

Run by `make check`. Each check takes the repository root and returns the complaints it has,
one line each, beginning with the path. The lists below may only shrink.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.check_house import HOUSE_CHECKS
from tools.check_web import WEB_CHECKS

Complaints = list[str]

ROOT = Path(__file__).resolve().parent.parent

SIZE_LIMIT = 500
# Path -> the lines it may have. Each of these files says at its top why it is not split.
LONG_FILES: dict[str, int] = {}
GENERATED = ("web/src/schema.ts",)  # as long as they come out

# Room of src/native -> the rooms it may include besides itself.
NATIVE_ROOMS: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "model": frozenset({"base"}),
    "cubin": frozenset({"base"}),
    "session": frozenset({"base", "model"}),
    "files": frozenset({"base", "model"}),
    "backends": frozenset({"base", "model", "cubin"}),
    "frameworks": frozenset({"base", "model"}),
    "nvtx": frozenset(),
    "bindings": frozenset(
        {"base", "model", "cubin", "session", "files", "backends", "frameworks", "nvtx"}
    ),
}
# Room of src/native -> its sub-rooms, lowest first: each includes only those before it. Files on
# the room's own level stand above all of them.
NATIVE_LAYERS: dict[str, tuple[str, ...]] = {
    "session": ("metrics", "scopes", "booking", "samples", "snapshot"),
}
PYTHON_HEADERS = ("Python.h", "nanobind/", "structmember.h", "frameobject.h", "internal/pycore")

# Rooms of src/proton that record, and what an import of the native core looks like.
CORE_ROOMS = ("runtime", "backends", "inkernel")
CORE_IMPORT = re.compile(
    r"^ *from proton import .*\b_native\b|^ *(from|import) proton\._native\b"
    r"|\b(import_module|__import__)\([\"']proton\._native",
    re.MULTILINE,
)

# Pieces are joined here so that this file does not complain about itself.
FORBIDDEN_WORDS = {
    "/wo" + "rk/": "a path of one machine",
    "/ro" + "ot/": "a path of one machine",
    "pypi" + ".org": "the name of a package index",
    "python" + "hosted": "the name of a package index",
    "download.py" + "torch": "the name of a package index",
    "npm" + "js.org": "the name of a package index",
    "index" + "-url": "a setting of somebody's machine",
}

# What there may be of each text in src/ and tools/: lower the number when you remove one.
RATCHETS: dict[str, int] = {
    "# type: " + "ignore": 4,
    "# no" + "qa": 4,
    "TO" + "DO": 0,
}

ROOMS = ("src", "tests", "tools", "benchmarks", "examples", "web/src")
CODE = {".py", ".h", ".cpp", ".c", ".ts", ".tsx", ".css"}
TEXT = CODE | {".md", ".html", ".json", ".toml", ".txt", ".sh", ".cmake", ".yaml", ".yml", ".pyi"}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def files(root: Path, rooms: tuple[str, ...], suffixes: set[str]) -> Iterator[Path]:
    """Files of those rooms with one of those suffixes, in a fixed order."""
    for room in rooms:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "__pycache__" not in path.parts:
                yield path


def line_count(path: Path) -> int:
    """Lines of a text file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def check_sizes(root: Path) -> Complaints:
    """No file past the limit but those listed, and the list tells the truth."""
    complaints = []
    for path in files(root, ROOMS, CODE):
        name = path.relative_to(root).as_posix()
        lines, allowed = line_count(path), LONG_FILES.get(name, SIZE_LIMIT)
        if lines > allowed and name not in GENERATED:
            complaints.append(f"{name}: {lines} lines, at most {allowed} are allowed; split it")
        elif name in LONG_FILES and lines <= SIZE_LIMIT:
            complaints.append(f"{name}: short enough now; take it off LONG_FILES")
    complaints += [
        f"{name}: on LONG_FILES but not in the tree; take it off"
        for name in LONG_FILES
        if not (root / name).exists()
    ]
    return complaints


def check_docstrings(root: Path) -> Complaints:
    """Every module says what it is for."""
    return [
        f"{path.relative_to(root).as_posix()}: no module docstring"
        for path in files(root, ("src", "tools", "benchmarks", "examples"), {".py"})
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]


def check_includes(root: Path) -> Complaints:
    """Native rooms include only rooms below them, and only bindings see Python."""
    native = root / "src" / "native"
    complaints = []
    for path in files(root, ("src/native",), CODE):
        name, room = path.relative_to(root).as_posix(), path.relative_to(native).parts[0]
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = included.partition("/")[0]
            if other in NATIVE_ROOMS and other != room and other not in NATIVE_ROOMS.get(room, ()):
                complaints.append(f"{name}: room {room!r} must not include {included!r}")
            if other == room and layer_of(included) > layer_of(path.relative_to(native).as_posix()):
                complaints.append(f"{name}: must not include {included!r}, which stands above it")
            if room != "bindings" and included.startswith(PYTHON_HEADERS):
                complaints.append(f"{name}: only room 'bindings' may include {included!r}")
    return complaints


def layer_of(name: str) -> int:
    """How high a file stands in its native room, from 0; without layers all stand on one."""
    room, _, rest = name.partition("/")
    layers = NATIVE_LAYERS.get(room, ())
    sub_room = rest.rpartition("/")[0]
    return layers.index(sub_room) if sub_room in layers else len(layers)


def check_native_headers(root: Path) -> Complaints:
    """Every native file opens with a comment on its purpose, or the header beside it does."""
    return [
        f"{path.relative_to(root).as_posix()}: does not open with a comment on its purpose"
        for path in files(root, ("src/native",), {".h", ".cpp", ".c"})
        if not (path.suffix == ".cpp" and path.with_suffix(".h").exists())
        and not path.read_text(encoding="utf-8").lstrip().startswith(("//", "/*"))
    ]


def check_words(root: Path) -> Complaints:
    """No paths of one machine and no index hosts, in files or documents."""
    paths = [*files(root, (*ROOMS, "docs"), TEXT)]
    for folder in (root, root / "web"):
        beside = sorted(folder.iterdir()) if folder.exists() else []
        paths += [p for p in beside if p.is_file() and (p.suffix in TEXT or p.name == ".npmrc")]
    paths += [p for p in (root / "Makefile", root / ".ci" / "run") if p.exists()]
    complaints = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for word, what in FORBIDDEN_WORDS.items():
                if word in line:
                    name = path.relative_to(root).as_posix()
                    complaints.append(f"{name}:{number}: {word!r} is {what}; take it out")
    return complaints


def check_ratchets(root: Path) -> Complaints:
    """Counts of things we want fewer of never grow."""
    complaints = []
    paths = list(files(root, ("src", "tools"), CODE | {".pyi"}))
    for text, allowed in RATCHETS.items():
        found = sum(path.read_text(encoding="utf-8").count(text) for path in paths)
        if found > allowed:
            complaints.append(f"src, tools: {text!r} occurs {found} times, at most {allowed} may")
        elif found < allowed:
            complaints.append(f"tools/check_tree.py: lower RATCHETS[{text!r}] to {found}")
    return complaints


def check_core_door(root: Path) -> Complaints:
    """Beside the recording rooms only `_core.py` imports the native core."""
    package = root / "src" / "proton"
    return [
        f"{path.relative_to(root).as_posix()}: imports the native core; use proton._core"
        for path in files(root, ("src/proton",), {".py"})
        if path != package / "_core.py"
        and path.relative_to(package).parts[0] not in CORE_ROOMS
        and CORE_IMPORT.search(path.read_text(encoding="utf-8"))
    ]


CHECKS: tuple[Callable[[Path], Complaints], ...] = (
    check_sizes,
    check_docstrings,
    check_includes,
    check_native_headers,
    check_words,
    check_ratchets,
    check_core_door,
    *HOUSE_CHECKS,
    *WEB_CHECKS,
)


def main(root: Path = ROOT) -> int:
    """Print every complaint about the tree; 1 if there is one."""
    complaints = [complaint for check in CHECKS for complaint in check(root)]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
