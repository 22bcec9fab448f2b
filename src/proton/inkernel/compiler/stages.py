"""Triton's stages for one kernel with our passes between them.

TTGIR is edited where the `llir` stage takes it in, so that a file of the user's that replaced it is
edited too; LLVM text where that stage gives it out. Whatever goes wrong with records in the kernel,
it is compiled without them and one line says why; what fails without them too is the user's.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable
from functools import partial

from proton import _triton
from proton._triton import compiler as _triton_compiler
from proton._triton.types import BuilderOptions, CompilerBackend, IrModule, Metadata, Stage
from proton.errors import InstrumentationError, PassError, ProtonError, ScopeMismatch
from proton.inkernel.compiler import overridden_files
from proton.inkernel.compiler.mode_passes import (
    KernelFacts,
    lower_text,
    lowering_recipe,
    mode_passes,
    recording_passes,
)
from proton.inkernel.compiler.overridden_files import LateCode
from proton.inkernel.compiler.pipeline import run_passes, unrecorded_functions
from proton.inkernel.compiler.recording_choice import ChosenMode
from proton.inkernel.compiler.resources import ctas_at_once, limits_of
from proton.inkernel.compiler.subprocess_compile import has_strangers_code, problem_of_code
from proton.inkernel.compiler.user_records import (
    has_carriers,
    needs_guard,
    record_names,
    take_refused,
    with_guards,
    without_records,
)
from proton.inkernel.ir.nesting import verify
from proton.inkernel.ir.parse import read_module
from proton.inkernel.llvm.module import LlvmModule, Lowering
from proton.inkernel.llvm.partitions import Partition, find_partitions
from proton.inkernel.modes.instrumentation_mode import BufferType, Granularity
from proton.inkernel.passes.drop_emptied_scopes import DropEmptiedScopes
from proton.inkernel.passes.drop_specialized_scopes import DropSpecializedScopes
from proton.inkernel.passes.record_user_scopes import RecordUserScopes

METADATA_KEY = "proton"
METADATA_VERSION = 1
WARNINGS_KEY = "proton_warnings"  # texts; a kernel out of Triton's cache was not compiled here

_MOST_WORDS = 400  # characters of somebody's error in a warning: ptxas's have all of the PTX
_KERNEL = re.compile(r'tt\.func public @("[^"]*"|[\w.$-]+)')
_PARAMETER = re.compile(r"%([\w.$-]+): ")


class RecordingStages:
    """Stands in for the stages of one kernel; `install` puts it there."""

    def __init__(
        self,
        backend: CompilerBackend,
        options: BuilderOptions,
        choice: ChosenMode,
        warn: Callable[[str], None],
    ) -> None:
        self._target = backend.target
        self._given = options
        self._options = _told_options(backend, options)
        self._choice = choice
        self._tell = warn
        self._said: list[str] = []
        self._inner: dict[str, Stage] = {}
        self._name = "?"
        self._asked: frozenset[str] = frozenset()  # regions that the source names
        self._ttir_text = ""  # as it was checked
        self._ttgir_text = ""  # before our passes, for a kernel that turns out plain
        self._context: object = None

    def install(self, stages: dict[str, Stage]) -> None:
        """Replace the stages that we take part in."""
        self._inner = dict(stages)
        if "ttir" in stages:
            stages["ttir"] = self._ttir
            stages["ttgir"] = self._ttgir
        stages["llir"] = self._llir
        names = list(stages)
        for name in names[names.index("llir") + 1 :]:
            stages[name] = self._late(name)

    def _ttir(self, source: object, metadata: Metadata) -> IrModule:
        """TTIR, with the user's records checked while their lines are as written."""
        metadata[WARNINGS_KEY] = self._said
        module = self._checked(self._inner["ttir"](source, metadata), is_file=False)
        self._ttir_text = str(module)
        return module

    def _checked(self, module: IrModule, *, is_file: bool) -> IrModule:
        """TTIR with records that nest; those of a file get the guards that others came with."""
        text = str(module)
        self._asked = frozenset()
        if not has_carriers(text):
            return module
        self._name = _kernel_name(text)
        told = text
        text, refused = take_refused(text, self._name)
        for reason in refused:
            self._warn(f"kernel {self._name!r}: {reason}; it is left out")
        try:
            verify(read_module(text, self._name))
        except ProtonError as error:
            self._give_up(error, "the regions of its source are left out")
            return _triton_compiler.parse_module(without_records(text), module.context)
        self._asked = record_names(text)
        ready = with_guards(text) if is_file and needs_guard(self._given) else text
        if self._must_drop_specialized():
            ready = self._without_specialized(ready)
        return module if ready == told else _triton_compiler.parse_module(ready, module.context)

    def _must_drop_specialized(self) -> bool:
        """Triton 3.6 cannot specialise loops with records in them for sm_100 and later."""
        is_blackwell = self._target.backend == "cuda" and int(self._target.arch) >= 100
        return is_blackwell and _triton.version_pair() < (3, 7)

    def _without_specialized(self, text: str) -> str:
        text = run_passes(text, (DropSpecializedScopes(),))
        self._say_lost(self._asked - record_names(text), is_specialized=True)
        self._asked = record_names(text)
        return text

    def _ttgir(self, module: IrModule, metadata: Metadata) -> object:
        """TTGIR; a kernel that Triton cannot compile with the user's records loses them here."""
        metadata[WARNINGS_KEY] = self._said
        text = str(module)
        if text != self._ttir_text:  # a file of the user's has replaced what was checked
            self._say_lost(self._asked - record_names(text), is_specialized=False)
            module = self._checked(module, is_file=True)
        if not self._asked:
            return self._inner["ttgir"](module, metadata)
        text, context = str(module), module.context
        try:
            return self._inner["ttgir"](module, metadata)
        except Exception as error:  # of Triton's passes; without records it fails again, or not
            plain = _triton_compiler.parse_module(without_records(text), context)
            compiled = self._inner["ttgir"](plain, metadata)
            self._give_up(error, "the regions of its source are left out")
            self._asked = frozenset()
            return compiled

    def _llir(self, module: IrModule, metadata: Metadata) -> str:
        """LLVM text with records lowered, and what the launcher must know in the metadata."""
        metadata[WARNINGS_KEY] = self._said
        text, self._context = str(module), module.context
        self._name = _kernel_name(text)
        self._ttgir_text = text
        try:
            recorded = self._record(text)
        except Exception as error:  # ours: never the end of the program
            return str(self._compile_plainly("llir", error, metadata))
        if recorded is None:
            return str(self._inner["llir"](module, metadata))
        try:
            edited = _triton_compiler.parse_module(recorded, self._context)
            lowered, lowering = self._lower(self._inner["llir"](edited, metadata), metadata)
        except Exception as error:  # ours or Triton's
            return str(self._compile_plainly("llir", error, metadata))
        if lowering is not None:
            self._describe(lowering, metadata)
        self._note("llir", lowered, metadata)
        return lowered

    def _record(self, text: str) -> str | None:
        """The TTGIR with what the mode records; None where that is nothing."""
        if self._asked and self._is_specialized():
            text = run_passes(text, (DropEmptiedScopes(),), path=self._name, is_nested=False)
        self._say_lost(self._asked - record_names(text), is_specialized=self._is_specialized())
        try:
            recorded = self._run_passes(text)
        except ScopeMismatch as error:
            recorded = self._run_unnested(text, error)
        except PassError:  # not the fault of the regions
            raise
        except ProtonError as error:
            if not has_carriers(text):
                raise
            self._give_up(error, "the regions of its source are left out")
            recorded = self._run_passes(without_records(text))
        return recorded if has_carriers(recorded) else None

    def _run_unnested(self, text: str, error: ScopeMismatch) -> str:
        """What nested in TTIR and nests no more was moved by Triton; readers pair it up."""
        if self._asked:
            return self._run_passes(text, is_nested=False)
        self._give_up(error, "the regions of its source are left out")
        return self._run_passes(without_records(text))

    def _run_passes(self, text: str, *, is_nested: bool = True) -> str:
        passes = recording_passes(
            self._choice.mode, thinning=self._choice.thinning, is_nested=is_nested
        )
        if has_carriers(text) and not any(isinstance(each, RecordUserScopes) for each in passes):
            # records of a file, in a mode without those of the source
            passes = (RecordUserScopes(nested=is_nested), *passes)
        recorded = run_passes(text, passes, path=self._name, is_nested=is_nested)
        if message := unrecorded_functions(text, passes):
            self._warn(f"kernel {self._name!r}: {message}")
        return recorded

    def _lower(self, text: str, metadata: Metadata) -> tuple[str, Lowering | None]:
        """The text with records as code; in global memory where shared memory has no room."""
        mode, facts = self._choice.mode, self._facts(text, metadata)
        check = None
        if has_strangers_code(mode_passes(mode, "llvm")):
            check = partial(
                problem_of_code, target=self._target, options=self._given, metadata=metadata
            )
        if mode.buffer_type is BufferType.GLOBAL:
            return lower_text(text, lowering_recipe(mode, facts), check=check)
        problem = "their rings in shared memory would leave room for fewer CTAs at once"
        try:
            lowered, lowering = lower_text(text, lowering_recipe(mode, facts), check=check)
            if lowering is None or mode.buffer_size or not self._loses_ctas(facts, lowering):
                return lowered, lowering
        except InstrumentationError as error:
            problem = str(error)
        done = lower_text(text, lowering_recipe(mode, facts, is_global=True), check=check)
        if mode.buffer_size:
            self._warn(f"kernel {self._name!r}: records go to global memory: {problem}")
        return done

    def _loses_ctas(self, facts: KernelFacts, lowering: Lowering) -> bool:
        limits = limits_of(self._target.backend, self._target.arch)
        threads = facts.num_warps * facts.warp_size
        before, after = (
            ctas_at_once(limits, shared_bytes=size, threads=threads)
            for size in (facts.shared_bytes, lowering.shared_bytes or facts.shared_bytes)
        )
        return after < before

    def _facts(self, text: str, metadata: Metadata) -> KernelFacts:
        backend = self._target.backend
        return KernelFacts(
            vendor="amd" if backend == "hip" else "nvidia",
            num_warps=int(metadata["num_warps"]),
            shared_bytes=int(metadata["shared"] or 0),
            shared_limit=limits_of(backend, self._target.arch).cta_shared,
            warp_size=int(self._target.warp_size),
            parameters=_parameter_names(self._ttgir_text),
            partitions=self._partitions(text),
        )

    def _partitions(self, text: str) -> tuple[Partition, ...]:
        """Those of a specialised kernel, if warps record together, for whom they matter."""
        granularity = self._choice.mode.granularity
        if granularity in (Granularity.WARP, Granularity.CTA) or not self._is_specialized():
            return ()
        found = find_partitions(LlvmModule(text).kernel)
        if not found:
            self._warn(
                f"kernel {self._name!r}: which warps its partitions have cannot be read; with "
                f"granularity {str(granularity)!r} those that begin amid a unit are not recorded; "
                "use granularity=warp"
            )
        return found

    def _is_specialized(self) -> bool:
        return "ttg.warp_specialize(" in self._ttgir_text

    def _describe(self, lowering: Lowering, metadata: Metadata) -> None:
        metadata["shared"] = lowering.shared_bytes or metadata["shared"]
        metadata["profile_scratch_size"] = lowering.scratch_bytes
        metadata["profile_scratch_align"] = lowering.scratch_align
        described = {
            "version": METADATA_VERSION,
            "mode": str(self._choice.mode),
            "thinning": self._choice.thinning,
            "scratch_bytes": lowering.scratch_bytes,
            "scratch_align": lowering.scratch_align,
            "record_map": lowering.record_map,
            "num_warps": metadata["num_warps"],
            "options": self._options,
            "optimizations": list(map(str, self._choice.mode.optimizations)),
        }
        metadata[METADATA_KEY] = json.dumps(described, separators=(",", ":"))

    def _late(self, name: str) -> Stage:
        """A stage after `llir`: what it refuses with records it gets without them."""

        def stage(source: object, metadata: Metadata) -> object:
            try:
                code = self._inner[name](source, metadata)
            except Exception as error:
                if METADATA_KEY not in metadata:
                    raise
                return self._compile_plainly(name, error, metadata)
            self._note(name, code, metadata)
            return code

        return stage

    def _note(self, level: str, code: str | bytes, metadata: Metadata) -> None:
        """Hear of it if a file replaces this code, which has records."""
        if METADATA_KEY not in metadata:
            overridden_files.note(None)
            return
        here = weakref.ref(self)  # the note outlives the kernel's compilation

        def on_replaced(path: str, taken: str | bytes) -> None:
            if (stages := here()) is not None:
                stages._drop_records(level, path, taken, metadata)

        overridden_files.note(LateCode(level, code, on_replaced))

    def _drop_records(self, level: str, path: str, taken: str | bytes, metadata: Metadata) -> None:
        """Claim no records: Triton goes on with what is in a file, after our passes."""
        metadata.pop(METADATA_KEY, None)
        strangers = has_strangers_code(mode_passes(self._choice.mode, "llvm"))
        if not (strangers or overridden_files.holds_records(taken)):
            metadata["profile_scratch_size"] = 0  # what writes gets memory that nobody reads
        self._warn(
            f"kernel {self._name!r} is not recorded: {path!r} replaces its {level}, and records "
            "are put in before that; take it away while recording, or replace ttgir"
        )

    def _compile_plainly(self, last: str, error: Exception, metadata: Metadata) -> object:
        """Start again from the TTGIR without records, up to the stage that failed with them."""
        metadata.pop(METADATA_KEY, None)
        names = list(self._inner)
        done: object = _triton_compiler.parse_module(
            without_records(self._ttgir_text), self._context
        )
        for name in names[names.index("llir") : names.index(last) + 1]:
            done = self._inner[name](done, metadata)
        self._give_up(error, "it is compiled without records")
        return done

    def _warn(self, text: str) -> None:
        self._said.append(text)
        self._tell(text)

    def _give_up(self, error: Exception, so: str) -> None:
        message = " ".join(str(error).split())
        if not isinstance(error, ProtonError):  # 'oops' alone says nothing of a KeyError
            message = f"{type(error).__name__}: {message}".removesuffix(": ")
        why = message[:_MOST_WORDS]
        self._warn(f"kernel {self._name!r} cannot be recorded as asked: {why}; {so}")

    def _say_lost(self, names: frozenset[str], *, is_specialized: bool) -> None:
        if not names:
            return
        listed = ", ".join(map(repr, sorted(names)))
        if is_specialized:
            self._warn(
                f"kernel {self._name!r}: Triton's automatic warp specialisation drops the regions "
                f"{listed} of its source; mode 'ops' records what such loops do"
            )
        else:
            self._warn(
                f"kernel {self._name!r}: the regions {listed} of its source are gone: a file that "
                "replaces its ttir or ttgir lacks them, or Triton took them out; lines "
                "`proton.record` in the file are recorded"
            )


def _told_options(backend: CompilerBackend, options: BuilderOptions) -> dict[str, object]:
    """The options that somebody gave, not those that Triton fills in."""
    usual = vars(backend.parse_options({}))
    return {
        name: value
        for name, value in vars(options).items()
        if name != "instrumentation_mode"
        and value != usual.get(name)
        and isinstance(value, str | int | float | bool | None)
    }


def _parameter_names(text: str) -> tuple[str, ...]:
    """The kernel's parameters as its TTGIR calls them."""
    found = _KERNEL.search(text)
    return tuple(_PARAMETER.findall(text[found.end() :].partition("\n")[0])) if found else ()


def _kernel_name(text: str) -> str:
    found = _KERNEL.search(text)
    return found[1].strip('"') if found else "?"
