"""What Proton is doing in this process."""

from proton.runtime.flags import Flags, flags

__all__ = ["Flags", "flags"]
