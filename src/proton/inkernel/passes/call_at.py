"""Pass: call a function of the user's at memory accesses, branches or block entries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proton.errors import InstrumentationError, UsageError
from proton.inkernel.llvm.access_marks import mark_accesses, note_in_init
from proton.inkernel.llvm.access_sites import find_sites, operands_of
from proton.inkernel.llvm.carrier_line import read_carrier
from proton.inkernel.llvm.emit import CALLBACK_BUFFER
from proton.inkernel.llvm.linking import link
from proton.inkernel.llvm.module import Block, LlvmModule, Lowering
from proton.inkernel.llvm.subprocess_check import verify_callbacks
from proton.inkernel.llvm.text import DebugInfo
from proton.inkernel.modes.callback_mode import (
    BUFFER,
    KINDS,
    check_signature,
    read_callbacks,
)
from proton.inkernel.passes import OwnPass

ALIGN = 128
_BRANCH = re.compile(r"^\s*br i1 (\S+), label|^\s*switch (i\d+) (\S+), label")
_PLACE = re.compile(r", !dbg !\d+")
_WRAPPER = "__proton_call_taken"
_STEM = "%proton.call_"  # other passes may mark accesses behind us


@dataclass(frozen=True)
class CallAt(OwnPass, level="llvm"):
    """Link the functions of a file of LLVM IR and call one at every access, branch or block entry.

    Called with: `access`: address (i64), bytes, kind (0 load, 1 store, 2 atomic, 3 copy), site (i32
    each), by lanes that take part; `branch`: condition, site; `block`: site. A callback that takes
    a `ptr addrspace(1)` besides gets the launch's buffer: `buffer_bytes` for each CTA of the grid.
    `arguments` names the kernel's parameters, in order.
    """

    file: str = ""
    at: str = "access"
    function: str = "callback"
    inline: bool = True
    buffer_bytes: int = 0
    arguments: tuple[str, ...] = ()

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; sets its `lowering`, which lists the sites.

        Raises:
            UsageError: the file is not there, is no callback, or LLVM refuses it.
            InstrumentationError: the kernel is lowered, or its accesses are marked.
        """
        text = read_callbacks(self.file)
        has_buffer = check_signature(text, self.function, self.at, self.file)
        if has_buffer and self.buffer_bytes < 1:
            raise UsageError(
                f"{self.file}: @{self.function} takes the buffer; say how large it is for each CTA "
                "with buffer_bytes"
            )
        verify_callbacks(text, self.file)
        if module.lowering is not None:
            raise InstrumentationError(
                f"kernel {module.kernel.name!r} is lowered already; run call-at before"
            )
        caller = _Caller(self, module, f", {BUFFER} {CALLBACK_BUFFER}" if has_buffer else "")
        caller.place_calls()
        if not caller.sites:
            return
        if has_buffer:
            self._open_buffer(module)
        link(module, text, is_inlined=self.inline)
        module.epilogue += caller.wrapper()
        module.lowering = Lowering(
            shared_bytes=None,
            scratch_bytes=self.buffer_bytes if has_buffer else 0,
            scratch_align=ALIGN,
            record_map={
                "kernel": module.kernel.name,
                "regions": [],
                "callbacks": caller.sites,
                "callback_offset": 0,
            },
        )
        module.epilogue.append(module.lowering.comment())

    def _open_buffer(self, module: LlvmModule) -> None:
        """Give callbacks the whole buffer; lowering moves theirs behind what it needs itself."""
        entry, scratch = module.kernel.blocks[0], module.kernel.open_scratch()
        entry.lines.insert(0, f"  {CALLBACK_BUFFER} = getelementptr i8, {BUFFER} {scratch}, i64 0")
        note_in_init(entry, {"callback": str(self.buffer_bytes)})


class _Caller:
    """Puts the calls into a kernel and numbers their sites."""

    def __init__(self, call: CallAt, module: LlvmModule, buffer: str) -> None:
        self.sites: list[dict[str, object]] = []
        self._call = call
        self._module = module
        self._buffer = buffer
        self._debug = DebugInfo(module.epilogue)

    def place_calls(self) -> None:
        if self._call.at == "access":
            self._at_accesses()
            return
        for block in self._module.kernel.blocks:
            if self._call.at == "block":
                self._at_entry(block)
            else:
                self._at_branch(block)

    def wrapper(self) -> list[str]:
        """Calls the callback for lanes that take part; the kernel's blocks stay as they are."""
        if self._call.at != "access":
            return []
        names = ("i64 %address", "i32 %bytes", "i32 %kind", "i32 %site")
        buffer = f", {BUFFER} %buffer" if self._buffer else ""
        return [
            f"define internal void @{_WRAPPER}(i32 %taken, {', '.join(names)}{buffer}) "
            "alwaysinline {",
            "entry:",
            "  %takes_part = icmp ne i32 %taken, 0",
            "  br i1 %takes_part, label %call, label %out",
            "call:",
            f"  call void @{self._call.function}({', '.join(names)}{buffer})",
            "  br label %out",
            "out:",
            "  ret void",
            "}",
        ]

    def _site(self, location: str, **facts: object) -> int:
        file, line = self._debug.location(location)
        number = len(self.sites)
        self.sites.append({"id": number, "at": self._call.at, "file": file, "line": line, **facts})
        return number

    def _at_accesses(self) -> None:
        module = self._module
        if find_sites(module.kernel):
            raise InstrumentationError(
                f"kernel {module.kernel.name!r}: its accesses are marked; run call-at before "
                "count-bytes and record-memory"
            )
        mark_accesses(module, has_addresses=True, names=self._call.arguments, stem=_STEM)
        sites = find_sites(module.kernel)
        for block in module.kernel.blocks:
            lines: list[str] = []
            for line in block.lines:
                carrier = read_carrier(line)
                if carrier is None or carrier.op != "access":
                    lines.append(line)
                    continue
                taken, *address = operands_of(carrier)
                if not address:  # a copy by descriptor
                    continue
                site = sites.of(carrier)
                number = self._site(
                    carrier.location, name=site.name, kind=site.kind, bytes=site.bytes
                )
                lines.append(
                    f"  call void @{_WRAPPER}(i32 {taken}, i64 {address[0]}, i32 {site.bytes}, "
                    f"i32 {KINDS.index(site.kind)}, i32 {number}{self._buffer}){carrier.location}"
                )
            block.lines = lines

    def _at_entry(self, block: Block) -> None:
        at = 0
        while " = phi " in block.lines[at]:
            at += 1
        location = next((found[0] for line in block.lines if (found := _PLACE.search(line))), "")
        number = self._site(location, block=block.name)
        call = f"call void @{self._call.function}(i32 {number}{self._buffer}){location}"
        block.lines.insert(at, f"  {call}")

    def _at_branch(self, block: Block) -> None:
        for at, line in enumerate(block.lines):
            if (found := _BRANCH.match(line)) is None:
                continue
            place = _PLACE.search(line)
            location = place[0] if place else ""
            number = self._site(location, block=block.name)
            value = f"%proton.branch{number}"
            block.lines[at:at] = [
                f"  {value} = {_as_word(found)}",
                f"  call void @{self._call.function}(i32 {value}, i32 {number}{self._buffer})"
                f"{location}",
            ]
            return


def _as_word(branch: re.Match[str]) -> str:
    """The condition of a branch, or what a switch is on, as 32 bits."""
    if branch[1]:
        return f"zext i1 {branch[1]} to i32"
    bits = int(branch[2][1:])
    if bits == 32:
        return f"add i32 {branch[3]}, 0"
    return f"{'zext' if bits < 32 else 'trunc'} {branch[2]} {branch[3]} to i32"
