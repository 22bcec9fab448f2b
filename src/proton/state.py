"""States: labels on work. `proton.state` is the class, this module holds its family."""

from proton.runtime.scopes import (
    COMPUTE_METADATA_SCOPE_NAME,
    COMPUTE_METADATA_SCOPE_PREFIX,
    enter_state,
    exit_state,
    get_metadata_state_name,
    metadata_state,
    state,
)

__all__ = [
    "COMPUTE_METADATA_SCOPE_NAME",
    "COMPUTE_METADATA_SCOPE_PREFIX",
    "enter_state",
    "exit_state",
    "get_metadata_state_name",
    "metadata_state",
    "state",
]
