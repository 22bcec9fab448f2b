"""The hatchet format: plain objects -> tree, and profile -> JSON or msgpack bytes.

Both ways are loops over rows, so depth costs nothing. Reading is written for speed: it takes the
nodes apart into columns and asks of whole columns whether all is certainly well; only in doubt are
nodes looked at one by one (`check_nodes`), to find the bad one or to clear the doubt.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Any, NamedTuple, cast

import msgpack

from proton.errors import FormatError
from proton.files.encoding.checks import is_number, is_text, short
from proton.files.encoding.schema import MAX_INT, MIN_INT, PROTON_KEY
from proton.files.encoding.summary import device_map, summary_object
from proton.files.hatchet.details import details_object, entries_object
from proton.files.hatchet.frames import frames_of, infer_kinds, is_kinds, name_device_types
from proton.model.metric import CYCLES, EMPTY, TIME_NS, Metrics, MetricValue
from proton.model.profile import Profile
from proton.model.tree import Tree

_VALUE_TYPES = {int, float, str}


class ReadTree(NamedTuple):
    """A tree, and what was learnt on the way."""

    tree: Tree
    metric_names: Set[str]


def read_tree(root: Any, kinds: str | None, source: str, *, doubt: bool = False) -> ReadTree:
    """The tree below `root`, a node as it stands in a file.

    Args:
        root: The root node, not checked yet.
        kinds: One FrameKind letter a node; None, or one that does not fit, means to infer them.
        source: The path, for messages.
        doubt: Look at the nodes one by one in any case.

    Raises:
        FormatError: A node is not as the format says; the message has its row.
    """
    try:
        names, parents, own, values = _columns(root)
        metric_names = set().union(*own)
        doubt = doubt or not _is_sound(names, metric_names, values)
    except (KeyError, TypeError, AttributeError):
        check_nodes(root, source)
        raise AssertionError(f"{source}: a fault that check_nodes does not see") from None
    if doubt:
        check_nodes(root, source)
        own = [_without_lists(metrics) for metrics in own]
    if TIME_NS in metric_names and str in {type(metrics.get(TIME_NS)) for metrics in own}:
        row = next(at for at, metrics in enumerate(own) if type(metrics.get(TIME_NS)) is str)
        raise FormatError(
            f"{source}: node {row} has text as its {TIME_NS!r}: {short(own[row][TIME_NS])}"
        )
    if kinds is None or not is_kinds(kinds, len(names)):
        if CYCLES in metric_names:
            own = name_device_types(own)
        kinds = infer_kinds(names, own, parents)
    tree = Tree(frames_of(names, kinds), parents, own)
    return ReadTree(tree, metric_names)


class _Columns(NamedTuple):
    """All nodes of a file, depth first, taken apart; nothing of it is checked."""

    names: list[str]
    parents: list[int]
    own: list[Mapping[str, MetricValue]]
    values: list[MetricValue]  # of all metrics of all nodes


def _columns(root: Any) -> _Columns:
    """One pass that takes from each node all it will be asked for, while it is in the cache."""
    columns = _Columns([], [], [], [])
    add_name, add_parent, add_own = columns.names.append, columns.parents.append, columns.own.append
    add_values = columns.values.extend
    none: list[Any] = []
    row = 0
    parent = -1
    siblings: Iterator[Any] = iter((root,))
    outer: list[tuple[Iterator[Any], int]] = []
    while True:
        for node in siblings:
            add_name(node["frame"]["name"])
            add_parent(parent)
            metrics = node.get("metrics", EMPTY)
            children = node.get("children", none)
            if metrics:
                add_own(metrics)
                add_values(metrics.values())
            else:
                if metrics != {}:
                    raise TypeError
                add_own(EMPTY)
            if type(children) is not list:
                raise TypeError
            if children:
                outer.append((siblings, parent))
                siblings = iter(children)
                parent = row
                row += 1
                break
            row += 1
        else:
            if not outer:
                return columns
            siblings, parent = outer.pop()


def _is_sound(names: list[str], metric_names: Set[object], values: list[MetricValue]) -> bool:
    """Whether every name is text, and every metric a single number in range or a label."""
    if set(map(type, names)) != {str} or set(map(type, values)) - _VALUE_TYPES:
        return False
    if "" in metric_names or set(map(type, metric_names)) - {str}:
        return False
    numbers = cast("list[int | float]", [v for v in values if type(v) is not str])
    if not numbers:
        return True
    # A NaN makes the sum NaN, an infinity shows at one end; a sum too large only costs a look.
    return min(numbers) >= MIN_INT and max(numbers) <= MAX_INT and math.isfinite(sum(numbers))


def _without_lists(metrics: Mapping[str, Any]) -> Mapping[str, MetricValue]:
    if list not in map(type, metrics.values()):
        return metrics
    return {k: tuple(v) if type(v) is list else v for k, v in metrics.items()}


def check_nodes(root: Any, source: str) -> None:
    """Look at every node; the first that is not as the format says raises FormatError."""
    pending = [root]
    row = 0
    while pending:
        node = pending.pop()
        fault = _fault(node)
        if fault:
            raise FormatError(f"{source}: node {row} {fault}")
        row += 1
        pending.extend(reversed(node.get("children", ())))


def _fault(node: Any) -> str:
    """What is wrong with a node, as the end of a sentence; empty where nothing is."""
    if type(node) is not dict:
        return f"must be an object, not {short(node)}"
    frame = node.get("frame")
    if frame is None or (type(frame) is dict and "name" not in frame):
        return "has no frame name"
    if type(frame) is not dict:
        return f"has a frame that is not an object but {short(frame)}"
    if not is_text(frame["name"]):
        return f"has a frame name that is not text but {short(frame['name'])}"
    children = node.get("children", [])
    if type(children) is not list:
        return f"has children that are not a list but {short(children)}"
    metrics = node.get("metrics", {})
    if type(metrics) is not dict:
        return f"has metrics that are not an object but {short(metrics)}"
    for name, value in metrics.items():
        if not is_text(name) or not name:
            return f"has a metric whose name is {short(name)}"
        if not _is_value(value):
            return f"has a metric {short(name)} that is not a number in range but {short(value)}"
    return ""


def _is_value(value: object) -> bool:
    if type(value) is list:
        return all(map(is_number, value))
    return is_number(value) or is_text(value)


def to_json(profile: Profile, tree: Tree) -> bytes:
    """`profile`, which holds `tree`, as compact JSON."""
    encode = json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
    ).encode
    heads = {
        frame: f'{{"frame":{{"name":{encode(frame.name)},"type":"function"}},"metrics":'
        for frame in set(tree.frames)
    }
    metrics_json = _metrics_encoder(encode)
    pieces: list[str] = ["["]
    open_nodes = 0
    for row, depth in enumerate(tree.depths()):
        if depth < open_nodes:  # not the first child of the row before
            pieces.append("]}" * (open_nodes - depth) + ",")
        open_nodes = depth + 1
        metrics = tree.own[row]
        pieces.append(heads[tree.frames[row]])
        pieces.append(metrics_json(metrics) if metrics else "{}")
        pieces.append(',"children":[')
    summary = encode(_summary(profile, tree))
    pieces.append("]}" * (open_nodes - 1))
    pieces.append(f'],"{PROTON_KEY}":{summary}}},{encode(device_map(profile))}]')
    return "".join(pieces).encode()


def _metrics_encoder(encode: Callable[[Any], str]) -> Callable[[Metrics], str]:
    """What writes the metrics of a node as JSON: an encoder's call each would cost far more.

    Nodes with the same metrics share a template, into which numbers go as they are.
    """
    templates: dict[tuple[str, ...], str] = {}
    label = cache(encode)  # of texts only: equal numbers of two types are not the same text

    def write(metrics: Metrics) -> str:
        names = tuple(metrics)
        if (template := templates.get(names)) is None:
            places = [encode(name).replace("%", "%%") + ":%s" for name in names]
            template = templates[names] = "{" + ",".join(places) + "}"
        return template % tuple(
            [
                value
                if (kind := type(value)) is int
                else repr(value)
                if kind is float
                else label(value)
                if kind is str
                else encode(value)
                for value in metrics.values()
            ]
        )

    return write


def to_msgpack(profile: Profile, tree: Tree) -> bytes:
    """`profile`, which holds `tree`, as msgpack: the same objects as `to_json`."""
    packer = msgpack.Packer(autoreset=False)
    pack, pack_map_header = packer.pack, packer.pack_map_header
    pack_array_header = packer.pack_array_header
    pack_array_header(2)
    for row, size in enumerate(_child_counts(tree.parents)):
        pack_map_header(3 if row else 4)
        pack("frame")
        pack({"name": tree.frames[row].name, "type": "function"})
        pack("metrics")
        pack(dict(tree.own[row]))
        pack("children")
        pack_array_header(size)
    pack(PROTON_KEY)
    pack(_summary(profile, tree))
    pack(device_map(profile))
    return bytes(packer.bytes())


def _summary(profile: Profile, tree: Tree) -> dict[str, Any]:
    kinds = "".join([frame.kind.value for frame in tree.frames])
    summary = summary_object(profile) | {"kinds": kinds}
    if tree.details:
        summary["kernels"] = details_object(tree)
    if tree.entries:
        summary["entries"] = entries_object(tree)
    return summary


def _child_counts(parents: Iterable[int]) -> list[int]:
    parents = list(parents)
    counts = [0] * len(parents)
    for parent in parents:
        if parent >= 0:
            counts[parent] += 1
    return counts
