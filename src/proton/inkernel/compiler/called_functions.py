"""Functions of a kernel that are compiled apart (`noinline=True`): who records nothing in them.

They get no buffer, so records stay in the kernel itself. Whoever asked for records is told; mode
`default` refuses those that the user wrote there, and counts of memory accesses say it themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from proton.inkernel.passes import Pass
from proton.inkernel.passes.record_around_ops import RecordAroundOps

CALL = "tt.call"
_SKIPPING = ("record-around-ops", "record-loops", "record-mma", "record-async-waits")
_FUNCTION = re.compile(r'\btt\.func private @(?:"([^"]*)"|([\w.$-]+))')


def unrecorded_functions(text: str, passes: Iterable[Pass]) -> str:
    """What to say of the functions in TTGIR text that these passes skip; empty: nothing."""
    skipping = [each for each in passes if each.name in _SKIPPING]
    if not skipping or CALL not in text:
        return ""
    if any(isinstance(each, RecordAroundOps) and CALL in each.ops for each in skipping):
        return ""  # calls are timed as a whole, as asked
    names = (found[1] or found[2] for found in _FUNCTION.finditer(text))
    # the mangled types of its arguments follow a function's name
    listed = ", ".join(sorted({repr(name.partition("__")[0] or name) for name in names}))
    if not listed:
        return ""
    return (
        f"not recorded inside {listed}: compiled apart (noinline=True), without a buffer; leave "
        f"out noinline, or time calls as a whole with ops={CALL}"
    )
