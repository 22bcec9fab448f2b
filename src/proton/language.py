"""What kernels call: `import proton.language as pl`, then `pl.scope("load")` inside a kernel."""

from proton.inkernel.dsl import (
    allocate_event,
    disable_semantic,
    enable_semantic,
    end_event,
    enter_scope,
    exit_scope,
    mark,
    scope,
    start_event,
    value,
)

__all__ = [
    "allocate_event",
    "disable_semantic",
    "enable_semantic",
    "end_event",
    "enter_scope",
    "exit_scope",
    "mark",
    "scope",
    "start_event",
    "value",
]
