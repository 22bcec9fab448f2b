"""Hooks on kernel loads and launches: `hook` has the base class, `launch` the one for metadata."""

from proton.hooks.hook import Hook
from proton.hooks.instrumentation import InstrumentationHook
from proton.hooks.launch import LaunchHook
from proton.runtime.hooks import HookManager

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook"]
