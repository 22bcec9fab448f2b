"""Makes what follows from the dataclasses of the file: TypeScript types and tables of the docs.

Usage: python -m tools.schema [--check]
Both are kept in git. `--check` writes nothing and fails where one of them is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from proton.model.schema import Field, Stored, inner_type, stored_fields

ROOT = Path(__file__).resolve().parent.parent
TYPES = ROOT / "web" / "src" / "schema.ts"
DOCS = ROOT / "docs" / "reference" / "file-format.md"
# What the page gets; types inside of these follow by themselves.
PAGE = ("proton.render.page:PageData", "proton.render.server.folder:FolderData")
_PLACE = re.compile(r"(<!-- fields of (\S+) -->\n)(.*?)(<!-- end of fields -->)", re.DOTALL)
_PLAIN = {str: "text", int: "integer", float: "number", bool: "boolean", object: "anything"}
_SCRIPT = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def load(name: str) -> type:
    """The class that `module:Class` names."""
    module, _, attribute = name.partition(":")
    loaded: type = getattr(import_module(module), attribute)
    return loaded


def typescript(names: Sequence[str]) -> str:
    """The file of types: one for each dataclass, named tuple and enumeration the page gets."""
    found: dict[type, None] = {}
    for name in names:
        _collect(load(name), found)
    head = (
        "/**\n"
        " * Types of what the page gets. Made by tools/schema.py from Python's dataclasses:\n"
        " * one list, however long, as nobody edits it.\n"
        " */\n"
    )
    return head + "".join(f"\n{_declaration(record)}" for record in found)


def _collect(record: type, found: dict[type, None]) -> None:
    """`record` behind the types of a name of their own that its fields have."""
    if not issubclass(record, Enum):
        for kind in (*filter(is_dataclass, record.__bases__), *get_type_hints(record).values()):
            for part in _records(kind):
                if part not in found:
                    _collect(part, found)
    found[record] = None


def _records(kind: Any) -> Iterator[type]:
    if _has_name(kind):
        yield kind
    for part in get_args(kind):
        yield from _records(part)


def _has_name(kind: Any) -> bool:
    """Whether TypeScript has a type of its own for `kind`."""
    if not isinstance(kind, type) or get_args(kind):
        return False
    return is_dataclass(kind) or issubclass(kind, Enum) or hasattr(kind, "_fields")


def _declaration(record: type) -> str:
    about = (record.__doc__ or "").partition("\n\n")[0]
    doc = f"/** {' '.join(about.split())} */"
    if issubclass(record, Enum):
        values = " | ".join(f'"{member.value}"' for member in record)
        return f"{doc}\nexport type {record.__name__} = {values}\n"
    if issubclass(record, tuple):
        hints = get_type_hints(record).items()
        row = ", ".join(f"{name}: {script_type(kind)}" for name, kind in hints)
        return f"{doc}\nexport type {record.__name__} = [{row}]\n"
    base = record.__base__ if is_dataclass(record.__base__) else object
    extends = f" extends {base.__name__}" if is_dataclass(base) else ""
    inherited = get_type_hints(base)
    lines = [doc, f"export interface {record.__name__}{extends} {{"]
    for name, hint in get_type_hints(record, include_extras=True).items():
        if name in inherited:
            continue
        stored = next((part for part in get_args(hint)[1:] if isinstance(part, Stored)), None)
        if stored is not None and stored.about:
            lines.append(f"  /** {stored.about} */")
        lines.append(f"  {name}: {script_type(hint)}")
    return "\n".join([*lines, "}"]) + "\n"


def script_type(kind: Any) -> str:
    """How TypeScript names a type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return script_type(parts[0])
    if kind in _SCRIPT:
        return _SCRIPT[kind]
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin is Mapping or origin is dict:
        return f"Record<string, {script_type(parts[1])}>"
    if origin is tuple and parts[-1] is not ...:
        return f"[{', '.join(map(script_type, parts))}]"
    if origin in (Sequence, tuple, list):
        item = script_type(parts[0])
        return f"({item})[]" if " | " in item else f"{item}[]"
    if parts:  # a union
        return " | ".join(dict.fromkeys(map(script_type, parts)))
    return str(kind.__name__) if _has_name(kind) else "unknown"


def with_tables(text: str) -> str:
    """A page of the docs with the tables between its markers made anew."""
    return _PLACE.sub(lambda place: f"{place[1]}{table(load(place[2]))}{place[4]}", text)


def table(record: type) -> str:
    """The fields of `record` as a table of Markdown."""
    rows = [
        f"| `{each.name}` | {plain_type(each.type)} | {each.stored.about} |"
        for each in _flat(record)
    ]
    return "\n".join(["| key | type | value |", "|---|---|---|", *rows]) + "\n"


def _flat(record: type) -> Iterator[Field]:
    for field in stored_fields(record):
        if field.stored.flat:
            yield from _flat(field.type)
        else:
            yield field


def plain_type(kind: Any) -> str:
    """How the docs name a type."""
    kind, _ = inner_type(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) is Mapping:
        return f"object of {_plural(get_args(kind)[1])}"
    if get_args(kind):
        return f"list of {_plural(get_args(kind)[0])}"
    return "object"


def _plural(kind: Any) -> str:
    kind, may_miss = inner_type(kind)
    if isinstance(kind, type) and issubclass(kind, tuple):
        return "lists"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "texts"
    if get_origin(kind) is Mapping:
        return "objects"
    return f"{plain_type(kind)}s" + (" or null" if may_miss else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both files, or say which is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.schema")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where stale")
    check = parser.parse_args(arguments).check
    stale = 0
    wanted = {TYPES: typescript(PAGE), DOCS: with_tables(DOCS.read_text())}
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        name = path.relative_to(ROOT)
        if check:
            print(f"{name}: stale; run python -m tools.schema", file=sys.stderr)
        else:
            path.write_text(text)
            print(f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
