"""What recording made of kernels: more registers, spills, fewer warps at once.

While a session runs, the kernel without records is only looked up in Triton's cache. At the end it
is compiled where it is in none, within limits: for the next session it then is there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from proton._triton import launch as _triton_launch
from proton._triton.types import CompiledKernel
from proton.backends.instrumentation.loaded_kernels import LoadedKernel
from proton.backends.instrumentation.report import changes
from proton.inkernel.compiler.compile_hook import plain_resources
from proton.inkernel.compiler.resources import resources_of
from proton.model.in_kernel import Change

COMPILE_LIMIT_S = 5.0  # for all kernels of a session: none is begun later
MOST_COMPILED = 32
_MOST_WORDS = 200  # characters of somebody's error


class KernelChanges:
    """The changes of one session's kernels, by their numbers."""

    def __init__(self) -> None:
        self._found: dict[int, dict[str, Change]] = {}
        # compiled; what they are without records is not known
        self._unknown: dict[int, CompiledKernel] = {}

    def of(self, kernel: LoadedKernel) -> Mapping[str, Change]:
        """What recording made of a kernel that was looked up."""
        return self._found[kernel.number]

    def look_up(self, kernels: Iterable[LoadedKernel]) -> None:
        """Read what is new from binaries; nothing is compiled."""
        new = [each for each in kernels if each.number not in self._found]
        loaded = {each.function: each for each in _triton_launch.loaded_kernels()} if new else {}
        for kernel in new:
            compiled = loaded.get(kernel.function)
            if compiled is None:
                self._found[kernel.number] = {}
                continue
            plain = plain_resources(compiled)
            self._found[kernel.number] = changes(plain, resources_of(compiled))
            if plain is None:
                self._unknown[kernel.number] = compiled

    def complete(self, kernels: Iterable[LoadedKernel]) -> list[str]:
        """Look up the last kernels, and compile without records what is in no cache.

        Returns:
            What stays unknown, one line for each reason.
        """
        self.look_up(kernels)
        left, self._unknown = self._unknown, {}
        end = time.monotonic() + COMPILE_LIMIT_S
        problems = []
        for done, (number, compiled) in enumerate(left.items()):
            if done == MOST_COMPILED or time.monotonic() >= end:
                count = len(left) - done
                problems.append(
                    f"{count} kernel{'s' * (count > 1)} not compiled without records in the time "
                    "there is: whether records cost occupancy is not known; record again"
                )
                break
            try:
                plain = plain_resources(compiled, may_compile=True)
            except Exception as error:  # Triton's: no reason to lose the session
                why = " ".join(str(error).split())[:_MOST_WORDS] or type(error).__name__
                problems.append(
                    f"kernel {compiled.name!r} cannot be compiled without records ({why}): whether "
                    "records cost occupancy is not known"
                )
                continue
            self._found[number] = changes(plain, resources_of(compiled))
        return problems
