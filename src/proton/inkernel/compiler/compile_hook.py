"""Puts our passes into Triton's compiler, and reads what they left in a compiled kernel.

`hook` is what Triton calls with the stages of every kernel (`add_stages_inspection_hook`), and from
3.7 on with nothing, for its cache keys. It does nothing where no mode is in force.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import cast

from proton import _triton
from proton._triton import compiler as _triton_compiler
from proton._triton.types import BuilderOptions, CompiledKernel, CompilerBackend, Stage, Wrapped
from proton.inkernel.compiler import overridden_files
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.compiler.resources import resources_of
from proton.inkernel.compiler.stages import (
    METADATA_KEY,
    METADATA_VERSION,
    WARNINGS_KEY,
    RecordingStages,
)
from proton.inkernel.ir.layout import RecordMap

_Keys = tuple[str, str]  # in memory, and on the disk


@dataclass(frozen=True)
class KernelRecords:
    """What a compiled kernel records, and what its launches need."""

    mode: str
    thinning: int  # how far its records were thinned out for a budget; 0: not at all
    scratch_bytes: int  # of the profile buffer, for each CTA of the grid
    scratch_align: int  # bytes
    record_map: RecordMap
    num_warps: int  # of a CTA, those of a specialised kernel's partitions included
    options: Mapping[str, object]  # that the kernel was compiled with; without defaults
    optimizations: Sequence[str] = ()  # of the mode: who reads it may not know the mode's class


def read_records(metadata: object) -> KernelRecords | None:
    """What the metadata of a compiled kernel says of its records; None where it has none.

    Args:
        metadata: A kernel's `metadata`, as Triton keeps it or as a mapping.
    """
    if isinstance(metadata, Mapping):
        text = metadata.get(METADATA_KEY)
    else:
        text = getattr(metadata, METADATA_KEY, None)
    described = json.loads(text) if isinstance(text, str) else {}
    if described.get("version") != METADATA_VERSION:
        return None
    known = [each.name for each in fields(KernelRecords)]
    return KernelRecords(**{name: described[name] for name in known if name in described})


class NotCachedError(LookupError):
    """A kernel that was only to be looked up is in no cache."""


def read_warnings(metadata: object) -> tuple[str, ...]:
    """Why a compiled kernel records less than it was asked to, one line each."""
    return tuple(getattr(metadata, WARNINGS_KEY, ()))


class CompileHook:
    """Our place in Triton's compiler. There is one at a time; `install` and `remove` nest nothing.

    A hook that the program has set itself is called first, and is back after `remove`.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._outer: Wrapped | None = None
        self._undo: Callable[[], None] = lambda: None

    def install(self) -> None:
        """Take the place; imports Triton."""
        self._outer = _triton_compiler.stages_hook()
        _triton_compiler.set_stages_hook(self)
        self._undo = _triton_compiler.salt_keys(choice.salt)

    def remove(self) -> None:
        """Give the place back, unless somebody else has taken it."""
        self._undo()
        current: object = _triton_compiler.stages_hook()
        if current is self:
            _triton_compiler.set_stages_hook(self._outer)

    def __call__(
        self,
        backend: CompilerBackend | None = None,
        stages: dict[str, Stage] | None = None,
        options: BuilderOptions | None = None,
        language: object = None,
        capability: object = None,
    ) -> object:
        """Edit the stages of a kernel; without arguments, our part of its cache keys."""
        chosen = choice.current()
        if stages is None:
            key, digest = ("", "") if self._outer is None else cast(_Keys, self._outer())
            return (key + chosen.salt, digest + chosen.digest) if chosen else (key, digest)
        if not choice.may_compile:
            raise NotCachedError
        overridden_files.note(None)
        if self._outer is not None:
            self._outer(backend, stages, options, language, capability)
        if chosen is None:
            return None
        if self._is_refused():
            return None
        assert backend is not None  # as ever where there are stages
        assert options is not None
        RecordingStages(backend, options, chosen, self._warn).install(stages)
        return None

    def _is_refused(self) -> bool:
        """Whether Triton 3.6 runs an instrumentation of its own, whose knob is our salt's place."""
        own = _triton_compiler.own_instrumentation()
        if not own or _triton.version_pair() >= (3, 7):
            return False
        self._warn(
            f"kernels are compiled without records: Triton's own instrumentation {own!r} is on; "
            "switch it off (TRITON_INSTRUMENTATION_MODE)"
        )
        return True


def plain_resources(kernel: CompiledKernel, *, may_compile: bool = False) -> dict[str, int] | None:
    """What the kernel needs without records, as `resources_of` has it; None: not known.

    It is known where the plain kernel is in Triton's cache, while recording is on. Compiling it
    takes as long as ever: only where `may_compile`.
    """
    records = read_records(kernel.metadata)
    source = getattr(kernel, "src", None)
    if records is None or not hasattr(source, "fn"):
        return None
    if not may_compile and not choice.is_on:
        return None  # nobody would stop Triton from compiling it
    with choice.plainly(may_compile=may_compile):
        try:
            plain = _triton_compiler.compile_again(source, kernel.metadata.target, records.options)
        except NotCachedError:
            return None
    return resources_of(plain)
