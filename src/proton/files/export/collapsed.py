"""Collapsed stacks: a line a context, its frames joined by `;`, then what it took by itself.

flamegraph.pl, inferno, speedscope and many others read it. It holds one metric, in whole numbers.
"""

from __future__ import annotations

from proton.files.export.stacks import Exported, loss_notes, refuse_endless, stacks_of
from proton.model.profile import TreeProfile

_CHARACTERS = str.maketrans({";": ":", "\n": " ", "\r": " ", "\t": " "})  # they divide stacks


def export(profile: TreeProfile, metric: str | None = None) -> Exported:
    """`profile` as lines; `metric` in place of the time.

    Raises:
        MetricNotFound: There is no such metric, or none that adds up.
        UsageError: Stacks are too deep to spell them all out.
    """
    tree = profile.tree
    (weights, *others), notes = stacks_of(profile, tree, metric)
    if others:
        notes = (*notes, f"holds {weights.metric}; --metric picks another")
    refuse_endless(profile, tree, [weights])
    names = {frame: frame.name.translate(_CHARACTERS).strip() or "?" for frame in set(tree.frames)}
    lines: list[str] = []
    path: list[str] = []
    rounded = 0
    for row, (depth, value) in enumerate(zip(tree.depths(), weights.own, strict=True)):
        if row:
            path[depth - 1 :] = [names[tree.frames[row]]]
        whole = round(value)
        rounded += whole != value
        if whole:
            lines.append(f"{';'.join(path) or names[tree.frames[0]]} {whole}\n")
    if rounded:
        notes = (*notes, f"{rounded} values were rounded to whole numbers")
    return Exported("".join(lines).encode(), notes + loss_notes(profile))
