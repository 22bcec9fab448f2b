"""What kernels call: `import proton.language as pl`, then `pl.scope("load")` inside a kernel."""

from proton.inkernel.dsl import (
    Event,
    allocate_event,
    disable_semantic,
    enable_semantic,
    end_event,
    enter_scope,
    exit_scope,
    mark,
    record_side,
    scope,
    start_event,
    value,
)

record = record_side  # the name that users of `triton.profiler.language` know

__all__ = [
    "Event",
    "allocate_event",
    "disable_semantic",
    "enable_semantic",
    "end_event",
    "enter_scope",
    "exit_scope",
    "mark",
    "record",
    "scope",
    "start_event",
    "value",
]
