"""Where the calling thread or task stands, as a session sees it."""

from proton.runtime.phases import depth

__all__ = ["depth"]
