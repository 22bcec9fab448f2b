"""What Proton is doing in this process."""

from proton.runtime.sessions import Flags, flags

ProfilerFlags = Flags  # the name that users of `triton.profiler` know

__all__ = ["Flags", "ProfilerFlags", "flags"]
