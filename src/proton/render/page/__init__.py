"""What the page shows of profiles, computed here and only drawn there.

A page has parts, one module of this room each, imported when a page is made. A part is a function
`NAME_part(profile, columns)` that returns plain objects for JSON, or None where the profile has
nothing for it. The profile is as `viewed` returns it: it has a tree in any case, and its rows are
the rows of the document in the page. Long lists of numbers go to `columns`, which returns the id
that the part then names. The page's side of part NAME is web/src/parts/NAME.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from proton._version import __version__
from proton.analysis.prepare import prepare
from proton.files.hatchet.tree import to_json as document_json
from proton.model.metric import Metrics
from proton.model.profile import Profile, TreeProfile
from proton.model.ranks import BY_RANK
from proton.render.page.pack import Columns, json_list, json_object, pack_page, to_json

Part = Mapping[str, Any]
PartFunction = Callable[[TreeProfile, Columns], Part | None]
DiffFunction = Callable[[TreeProfile, TreeProfile, Columns], Part | None]

FORMAT = "proton-page/1"
# Name of a part -> its function. One line each; a module that is not there has no part yet.
PARTS = {
    "names": "proton.render.page.names:names_part",
    "summary": "proton.render.page.summary:summary_part",
    "kernels": "proton.render.page.kernels:kernels_part",
    "roofline": "proton.render.page.roofline:roofline_part",
    "autotune": "proton.render.page.autotune:autotune_part",
    "trace": "proton.render.page.trace:trace_part",
    "source": "proton.render.page.source:source_part",
    "in_kernel": "proton.render.page.in_kernel:in_kernel_part",
    "ranks": "proton.render.page.ranks:ranks_part",
}
DIFF = "proton.render.page.diff:diff_part"  # of two profiles: the second against the first


def viewed(profile: Profile) -> TreeProfile:
    """`profile` as pages show it: with a tree, without the cost of launch metadata.

    Raises:
        FormatError: Nothing was recorded.
    """
    return prepare(profile)


def page_data(profiles: Sequence[Profile]) -> bytes:
    """The data of a page that shows `profiles`, packed; of two, the difference too.

    Raises:
        FormatError: In one of them nothing was recorded.
    """
    shown = [viewed(profile) for profile in profiles]
    columns = Columns()
    diff = None
    if len(shown) == 2 and (compare := _load(DIFF)) is not None:
        diff = compare(shown[0], shown[1], columns)
    head = {
        "format": to_json(FORMAT),
        "made_by": to_json(__version__),
        "profiles": json_list([_profile_json(profile, columns) for profile in shown]),
        "diff": to_json(diff),
    }
    return pack_page(head, columns)


def _profile_json(profile: TreeProfile, columns: Columns) -> bytes:
    parts = {}
    for name, target in PARTS.items():
        function = _load(target)
        part = None if function is None else function(profile, columns)
        if part is not None:
            parts[name] = part
    return json_object(
        {
            "source": to_json(profile.source),
            "document": _document(profile),
            "parts": to_json(parts),
        }
    )


def _document(profile: TreeProfile) -> bytes:
    """The profile as its file has it, less what only parts show: samples, records, ranks' times."""
    tree = profile.tree
    lean = replace(profile, sampling=None, in_kernel=(), autotune=())
    if profile.ranks:
        own = [_without(metrics, BY_RANK.values()) for metrics in tree.own]
        lean = replace(lean, tree=(tree := replace(tree, own=own)))
    return document_json(lean, tree)


def _without(metrics: Metrics, names: Any) -> Metrics:
    return {name: value for name, value in metrics.items() if name not in names}


def _load(target: str) -> Any:
    """The function that a table names; None where its module is not there."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name) if find_spec(module) is not None else None
