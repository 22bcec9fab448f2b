"""The base class of hooks."""

from proton.runtime.hooks import Hook, HookManager

__all__ = ["Hook", "HookManager"]
