"""Which sampled kernel a context of the tree is: launch metadata may have given it another name."""

from __future__ import annotations

from proton.analysis.source_lines import place_of
from proton.model.frame import FrameKind
from proton.model.profile import Profile, TreeProfile
from proton.model.sampling import Sampling
from proton.model.tree import Tree


def symbol_of(tree: Tree, row: int) -> str:
    """The symbol of the kernel of a row: what the recording says, else its name."""
    detail = tree.details.get(row)
    symbol = detail.attributes.get("symbol") if detail is not None else None
    return symbol if isinstance(symbol, str) else tree.frames[row].name


def other_names(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Symbol -> the other names that its kernel has in the tree.

    A context whose symbol is not said is that of the kernel whose source lines it has.
    """
    sampling = profile.sampling
    if sampling is None or not isinstance(profile, TreeProfile):
        return {}
    tree = profile.tree
    symbols = {kernel.symbol for kernel in sampling.kernels}
    by_place = _symbols_by_place(sampling)
    found: dict[str, dict[str, None]] = {}
    for row, frame in enumerate(tree.frames):
        if frame.kind is FrameKind.KERNEL and (symbol := symbol_of(tree, row)) != frame.name:
            found.setdefault(symbol, {})[frame.name] = None
        above = tree.parents[row]
        if frame.kind is not FrameKind.SAMPLE or above <= 0:
            continue
        name = tree.frames[above].name
        if tree.frames[above].kind is FrameKind.KERNEL and name not in symbols:
            for symbol in by_place.get(place_of(frame), ()):
                found.setdefault(symbol, {})[name] = None
    return {symbol: tuple(names) for symbol, names in found.items()}


def _symbols_by_place(sampling: Sampling) -> dict[tuple[str, int], set[str]]:
    """The user's lines of all kernels -> the kernels that have them."""
    symbols: dict[tuple[str, int], set[str]] = {}
    for kernel in sampling.kernels:
        for one in kernel.instructions:
            stack = list(sampling.stack(one.line))
            if stack:
                line = sampling.lines[stack[-1]]
                symbols.setdefault((line.file, line.line), set()).add(kernel.symbol)
    return symbols
