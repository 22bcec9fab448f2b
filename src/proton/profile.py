"""Sessions: start, pause, write. `proton.profile` is the decorator, this module its family."""

from proton.runtime.profile import profile
from proton.runtime.request import DEFAULT_PROFILE_NAME
from proton.runtime.sessions import activate, deactivate, finalize, start

__all__ = ["DEFAULT_PROFILE_NAME", "activate", "deactivate", "finalize", "profile", "start"]
