"""The data of an open session, phase by phase."""

from proton.runtime.phases import advance_phase, clear, get, get_msgpack, is_phase_complete

__all__ = ["advance_phase", "clear", "get", "get_msgpack", "is_phase_complete"]
