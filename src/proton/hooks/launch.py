"""The hook that asks kernels for their launch metadata, and what it knows of the current launch."""

from proton.runtime.launch_hook import LaunchHook, enabled, id, in_hook, op_name

__all__ = ["LaunchHook", "enabled", "id", "in_hook", "op_name"]
