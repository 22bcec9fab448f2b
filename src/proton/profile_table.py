"""The door from a profile to its table of kernels; `Profile.table` opens it when it is called."""

from __future__ import annotations

from proton.analysis.prepare import prepare
from proton.errors import UsageError
from proton.model.profile import Profile
from proton.render.text.kernel_list import kernel_list


def table_of(profile: Profile, sort_by: str = "time", row_limit: int | None = 100) -> str:
    """What `profile.table(...)` returns.

    Raises:
        UsageError: There is no such order, or `row_limit` is no number of rows.
    """
    return "\n".join(kernel_list(prepare(profile), sort_by, _most(row_limit)))


def _most(row_limit: object) -> int | None:
    """How many rows to list; None: all, which torch.profiler writes as -1."""
    if row_limit is None or row_limit == -1:
        return None
    if not isinstance(row_limit, int) or isinstance(row_limit, bool) or row_limit < 0:
        raise UsageError(
            f"row_limit {row_limit!r} is no number of rows; give 0 or more, or None (or -1) for all"
        )
    return row_limit
