"""The door from a profile to its table of kernels; `Profile.table` opens it when it is called."""

from __future__ import annotations

from proton.analysis.prepare import prepare
from proton.model.profile import Profile
from proton.render.text.kernel_list import kernel_list


def table_of(profile: Profile, sort_by: str = "time", row_limit: int | None = 100) -> str:
    """What `profile.table(...)` returns."""
    return "\n".join(kernel_list(prepare(profile), sort_by, row_limit))
