"""The hook of in-kernel recording. Not built yet: making one says so."""

from __future__ import annotations

from typing import Any, ClassVar

from proton.errors import BackendUnavailable
from proton.inkernel.mode import BaseMode
from proton.inkernel.modes import parse_instrumentation
from proton.runtime.hooks import Hook, LazyMetadata


class InstrumentationHook(Hook):
    """Gives instrumented kernels their record buffers."""

    priority = 0
    enable_host_buffer: ClassVar[bool] = False
    host_buffer: ClassVar[Any] = None
    profile_buffer_size: ClassVar[int] = 1
    profile_buffer_alignment: ClassVar[int] = 128

    def __init__(self, mode: str | BaseMode | None = None) -> None:
        """Refuse, after checking the mode.

        Raises:
            UsageError: the mode means nothing.
            BackendUnavailable: always, so far.
        """
        self.mode = parse_instrumentation(mode)
        raise BackendUnavailable(
            "instrumentation",
            reason="in-kernel recording is not part of this version",
            remedy="use backend='interpreter'",
        )

    def init_handle(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """Not reached."""

    def enter(self, metadata: LazyMetadata) -> None:
        """Not reached."""

    def exit(self, metadata: LazyMetadata) -> None:
        """Not reached."""

    def activate(self) -> None:
        """Not reached."""

    def deactivate(self) -> None:
        """Not reached."""
