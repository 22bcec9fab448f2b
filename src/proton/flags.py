"""What Proton is doing in this process."""

from proton.runtime.sessions import Flags, flags

__all__ = ["Flags", "flags"]
