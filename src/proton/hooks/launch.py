"""The hook that asks kernels for their launch metadata, and what it knows of the current launch."""

from proton.runtime.launch_hook import LaunchHook, enabled, id, in_hook, op_name
from proton.runtime.scopes import COMPUTE_METADATA_SCOPE_NAME

__all__ = ["COMPUTE_METADATA_SCOPE_NAME", "LaunchHook", "enabled", "id", "in_hook", "op_name"]
