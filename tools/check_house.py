"""Checks of the layout for `check_tree`: files on a level, cycles between folders, size of types.

A type is counted whole: its header and every source that defines one of its members. Cutting a
large type into more files changes nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

Complaints = list[str]
Edges = Mapping[str, Mapping[str, str]]  # folder -> folder it needs -> an example of a file

LEVEL_LIMIT = 30
TYPE_LINES, TYPE_MEMBERS = 600, 20

# What may be missing -> where it is imported.
_DOORS = {"triton": "_triton/", "torch": "_torch.py"}
_ON_CUDA = ("cupti", "device_buffer")  # native backends on NVIDIA's driver
_FOLDERS = ("src/proton", "src/native", "web/src")
_CODE = {".py", ".h", ".cpp", ".c", ".ts", ".tsx", ".css", ".ll"}
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_TYPE = re.compile(
    r"^(?:class|struct)\s+(?:alignas\([^)]*\)\s*)?(\w+)(?:\s+final)?\s*(?::[^;{]*)?\{", re.MULTILINE
)
_DEFINITION = re.compile(
    r"^[A-Za-z\[][^\n;=]*?\b([A-Z]\w+)::(?:[A-Z]\w+::)*(?:~?\w+|operator[^\s(]*)\(", re.MULTILINE
)
_MEMBER = re.compile(r"[\s*&>]\w+_(?:\[[^\]]*\])?\s*(?:=\s*[^;]*)?;")


def check_levels(root: Path) -> Complaints:
    """No folder of the product has more files on one level than a glance takes in."""
    counts: dict[str, int] = defaultdict(int)
    for top in _FOLDERS:
        for path in (root / top).rglob("*"):
            if path.suffix in _CODE and path.is_file():
                counts[path.parent.relative_to(root).as_posix()] += 1
    complaints = []
    for folder, count in sorted(counts.items()):
        if count > LEVEL_LIMIT:
            complaints.append(f"{folder}: {count} files on one level, at most {LEVEL_LIMIT} may be")
    return complaints


def check_types(root: Path) -> Complaints:
    """No native type is larger, sources included, than one idea with one lock needs."""
    return [
        f"src/native: type {name!r} has {lines} lines with its sources and {members} data members, "
        f"at most {TYPE_LINES} and {TYPE_MEMBERS} may be; a part with a lock gets a type of its own"
        for name, (lines, members) in native_types(root)
        if lines > TYPE_LINES or members > TYPE_MEMBERS
    ]


def native_types(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Types that native headers define, with their lines and data members."""
    native = root / "src" / "native"
    sources: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(native.rglob("*.cpp")):
        for name in set(_DEFINITION.findall(path.read_text(encoding="utf-8"))):
            sources[name].append(path)
    headers: dict[str, list[Path]] = defaultdict(list)
    bodies: dict[tuple[str, Path], str] = {}
    for path in sorted(native.rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        for match in _TYPE.finditer(text):
            headers[match[1]].append(path)
            bodies[match[1], path] = _own_statements(text, match.end())
    for (name, header), body in bodies.items():
        # Types of one name in two rooms: each has the sources of its own folder.
        is_only = len(headers[name]) == 1
        files = [header] + [p for p in sources[name] if is_only or p.parent == header.parent]
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        yield name, (lines, len(_MEMBER.findall(body)))


def _own_statements(text: str, start: int) -> str:
    """A type's body without comments and without the insides of its braces."""
    text = re.sub(r"//[^\n]*", "", text[start:])
    depth, kept = 1, []
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth == 0:
            break
        if depth == 1 and character != "}":
            kept.append(character)
    return "".join(kept)


def check_cycles(root: Path) -> Complaints:
    """No two folders of the product need each other, whichever way round."""
    complaints = []
    for edges in (_python_edges(root), _native_edges(root)):
        for group in cycles(edges):
            ways = [
                f"{example} needs {target}"
                for folder in group
                for target, example in sorted(edges[folder].items())
                if target in group
            ]
            complaints.append(f"{', '.join(group)}: need each other ({'; '.join(ways)})")
    return complaints


def cycles(edges: Edges) -> list[tuple[str, ...]]:
    """Groups of two or more folders of which each reaches all others."""
    reach = {folder: _reachable(edges, folder) for folder in edges}
    groups = {
        tuple(sorted(other for other in reach[folder] if folder in reach.get(other, ())))
        for folder in edges
        if folder in reach[folder]
    }
    return sorted(group for group in groups if len(group) > 1)


def _reachable(edges: Edges, start: str) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        for target in edges.get(pending.pop(), ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def check_doors(root: Path) -> Complaints:
    """Triton and torch, which may be missing, are imported in one place each."""
    package = root / "src" / "proton"
    complaints = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        for name in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            module = name.partition(".")[0]
            if module in _DOORS and not place.startswith(_DOORS[module]):
                complaints.append(f"src/proton/{place}: imports {module}; use {_DOORS[module]}")
    return complaints


def check_backends(root: Path) -> Complaints:
    """A native backend needs what is common to all of them, its vendor's driver, and no other."""
    complaints = []
    for folder, targets in _native_edges(root).items():
        for target, example in targets.items():
            room, other = folder.split("/")[:2], target.split("/")[:2]
            is_inside = room[0] == other[0] == "backends" and len(room) == len(other) == 2
            shared = ("common", "cuda") if room[-1] in _ON_CUDA else ("common",)
            if is_inside and other[1] not in (room[1], *shared):
                complaints.append(f"src/native/{folder}/{example}: must not include {target!r}")
    return complaints


def _native_edges(root: Path) -> Edges:
    native = root / "src" / "native"
    edges: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(native.rglob("*")):
        if path.suffix not in {".h", ".cpp", ".c"}:
            continue
        folder = path.parent.relative_to(native).as_posix()
        for included in _INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = Path(included).parent.as_posix()
            if target != folder and (native / included).exists():
                edges[folder].setdefault(target, path.name)
    return edges


def _python_edges(root: Path) -> Edges:
    """Imports between packages; a module beside the rooms (a door, a known name) stands alone."""
    package = root / "src" / "proton"
    edges: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(package.rglob("*.py")):
        folder = _place(package, path)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in _imported(tree):
            target = _home(package, name)
            if target is not None and target != folder:
                edges[folder].setdefault(target, path.relative_to(package).as_posix())
    return edges


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _place(package: Path, path: Path) -> str:
    """Where a module stands: its package, or itself beside the rooms."""
    if path.parent == package:
        return path.stem
    return path.parent.relative_to(package).as_posix()


def _home(package: Path, name: str) -> str | None:
    """Where the module stands that an import of `name` reaches; None: none of ours."""
    parts = name.split(".")
    if parts[0] != package.name:
        return None
    path = package
    for part in parts[1:]:
        if (path / part).with_suffix(".py").exists():
            return _place(package, (path / part).with_suffix(".py"))
        if not (path / part).is_dir():
            break
        path = path / part
    return None if path == package else path.relative_to(package).as_posix()


HOUSE_CHECKS = (check_levels, check_types, check_cycles, check_backends, check_doors)
