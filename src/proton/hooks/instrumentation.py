"""The hook of in-kernel recording, for programs that hold it themselves; sessions need none."""

from __future__ import annotations

from typing import ClassVar

from proton._mode_text import BaseMode
from proton._triton.types import LaunchMetadata
from proton.inkernel.compiler.instrument import Handle, begin
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.runtime.hooks import Hook
from proton.runtime.sessions import flags, say_notices


class InstrumentationHook(Hook):
    """Records inside kernels while it is active, into the session of backend instrumentation.

    Without such a session kernels stay plain; one that starts later records by its own mode.
    """

    priority = 0
    enable_host_buffer: ClassVar[bool] = False
    host_buffer: ClassVar[object] = None
    profile_buffer_size: ClassVar[int] = 1
    profile_buffer_alignment: ClassVar[int] = 128

    def __init__(self, mode: str | BaseMode | None = None) -> None:
        """Check the mode.

        Raises:
            UsageError: it means nothing.
        """
        self.mode = parse_instrumentation(mode)
        self._handle: Handle | None = None

    def init_handle(
        self, module: object, function: object, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """Nothing to do: the backend finds what a kernel records in its metadata."""

    def enter(self, metadata: LaunchMetadata) -> None:
        """Nothing to do: the backend gives launches their buffers."""

    def exit(self, metadata: LaunchMetadata) -> None:
        """Nothing to do."""

    def activate(self) -> None:
        """Begin to record, where a session takes the records.

        Raises:
            UsageError: it records in another mode.
        """
        if self._handle is None and flags.instrumentation_on:
            self._handle = begin(self.mode, warn=lambda text: say_notices([text]))

    def deactivate(self) -> None:
        """Record no more."""
        if self._handle is not None:
            self._handle.end()
            self._handle = None
