"""A module of LLVM text: its kernel, the kernel's blocks, and who jumps to whom.

Only what the passes touch is read; every other line is kept as it is. A module that no pass
changed prints byte for byte as it was read. What the lowering decided stands behind the text as a
comment, so that text alone says how to read the buffers of its kernel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from proton.errors import InstrumentationError
from proton.inkernel.ir.layout import RecordMap

_COMMENT = "; proton.lowering "
_NAME = r'(?:[-\w.$]+|"[^"]*")'
_KERNEL = re.compile(
    rf"^define .*?\b(?P<convention>ptx_kernel|amdgpu_kernel) void @(?P<name>{_NAME})"
    r"\((?P<parameters>.*)\)(?P<rest>[^()]*)\{\s*$"
)
_FUNCTION = re.compile(rf"^define .*?@(?P<name>{_NAME})\(")
_LABEL = re.compile(rf"^(?P<name>{_NAME}):")
_TARGET = re.compile(rf"label %({_NAME})")
_SCRATCH = re.compile(
    r"(?P<before>.*)(?P<type>ptr addrspace\(1\))(?P<attributes>[^,%]*)(?P<name>%\S+)$"
)
_UNTRUE_OF_SCRATCH = re.compile(
    r"\b(?:readnone|readonly|writeonly|nofree|nocapture|captures\([^)]*\))\s*"
)
_ATTRIBUTE_GROUP = re.compile(r"#(\d+)")


@dataclass(frozen=True)
class Lowering:
    """Sizes for the compiled kernel's metadata, and the record map that its buffers are read by."""

    shared_bytes: int | None  # what the kernel needs with its rings; None: as before
    scratch_bytes: int  # of the profile buffer, for each CTA of the grid
    scratch_align: int  # bytes
    record_map: RecordMap

    def comment(self) -> str:
        """As a line of LLVM text."""
        return _COMMENT + json.dumps(asdict(self), separators=(",", ":"))


def read_lowering(lines: Sequence[str]) -> Lowering | None:
    """The lowering that a lowered module carries; None for one that is not lowered."""
    for line in reversed(lines):
        if line.startswith(_COMMENT):
            return Lowering(**json.loads(line.removeprefix(_COMMENT)))
    return None


@dataclass
class Block:
    """A basic block: its name without `%`, its label line as printed, and its instructions."""

    name: str
    label: str | None
    lines: list[str] = field(default_factory=list)

    def successors(self) -> list[str]:
        """Names of the blocks it may jump to, one per edge."""
        first = last = self._last_line()
        while first > 0 and self.lines[last].lstrip().startswith("]"):  # of a switch
            first -= 1
            if self.lines[first].lstrip().startswith("switch "):
                break
        if not self.lines or not self.lines[first].lstrip().startswith(("br ", "switch ")):
            return []
        jump = self.lines[first : last + 1]
        return [name for line in jump for name in _TARGET.findall(line)]

    def returns_at(self) -> int | None:
        """Index of its `ret`; None for a block that ends otherwise."""
        at = self._last_line()
        return at if self.lines and self.lines[at].lstrip().startswith("ret ") else None

    def _last_line(self) -> int:
        """Index of the last line that is neither empty nor a comment; 0 without one."""
        at = len(self.lines) - 1
        while at > 0 and self.lines[at].lstrip()[:1] in ("", ";"):
            at -= 1
        return max(at, 0)


@dataclass
class Kernel:
    """The kernel function: its name, parameters and blocks, the entry first."""

    name: str
    vendor: str  # "nvidia" or "amd"
    header: str  # the `define` line
    blocks: list[Block]
    attribute_group: str  # number of its attributes, "" with none

    @property
    def parameters(self) -> str:
        """The parameters as printed, the profile buffer last."""
        matched = _KERNEL.match(self.header)
        assert matched is not None
        return matched["parameters"]

    def predecessors(self) -> dict[str, list[str]]:
        """Block -> the blocks that jump to it, one per edge (a switch may have several)."""
        found: dict[str, list[str]] = {block.name: [] for block in self.blocks}
        for block in self.blocks:
            for name in block.successors():
                if name not in found:
                    raise InstrumentationError(
                        f"kernel {self.name!r}: block {block.name!r} jumps to {name!r}, which is "
                        "not in the kernel; give LLVM text as Triton's llir stage prints it"
                    )
                found[name].append(block.name)
        return found

    def open_scratch(self) -> str:
        """Make the last parameter one that the kernel may write through; returns its name.

        Raises:
            InstrumentationError: the last parameter is no pointer to global memory.
        """
        matched = _KERNEL.match(self.header)
        assert matched is not None
        parameters = matched["parameters"]
        last = _SCRATCH.match(parameters)
        if last is None:
            raise InstrumentationError(
                f"kernel {self.name!r} has no pointer as its last parameter, where Triton passes "
                "the profile buffer; records need Triton 3.6 or later"
            )
        attributes = _UNTRUE_OF_SCRATCH.sub("", last["attributes"])
        opened = f"{last['before']}{last['type']}{attributes}{last['name']}"
        start, end = matched.span("parameters")
        self.header = self.header[:start] + opened + self.header[end:]
        return last["name"]


class LlvmModule:
    """LLVM text with one kernel in it. Passes change `kernel`, `prologue` and `epilogue`.

    Raises:
        InstrumentationError: the text has no kernel, or more than one.
    """

    def __init__(self, text: str, path: str = "<llvm>") -> None:
        lines = text.split("\n")
        functions = [at for at, line in enumerate(lines) if line.startswith("define ")]
        starts = [at for at in functions if _KERNEL.match(lines[at])]
        if len(starts) != 1:
            raise InstrumentationError(
                f"{path}: has {len(starts)} kernels (functions that are ptx_kernel or "
                "amdgpu_kernel); give the text of one kernel"
            )
        start = starts[0]
        end = next((at for at in range(start, len(lines)) if lines[at] == "}"), None)
        if end is None:
            raise InstrumentationError(f"{path}: ends inside its kernel; give the whole file")
        self.prologue = lines[:start]
        self.kernel = _read_kernel(lines[start], lines[start + 1 : end])
        self.epilogue = lines[end:]
        self.lowering = read_lowering(lines)  # what lower-to-* decided, for the metadata

    def text(self) -> str:
        """The module as LLVM text."""
        body: list[str] = []
        for block in self.kernel.blocks:
            body += block.lines if block.label is None else [block.label, *block.lines]
        return "\n".join([*self.prologue, self.kernel.header, *body, *self.epilogue])

    __str__ = text

    def has(self, start: str) -> bool:
        """Whether a line outside the kernel begins with `start`."""
        return any(line.startswith(start) for line in (*self.prologue, *self.epilogue))

    def kernel_attributes(self) -> str:
        """The attributes of the kernel, as printed after `attributes #N =`; "" with none."""
        start = f"attributes #{self.kernel.attribute_group} ="
        return next((line for line in self.epilogue if line.startswith(start)), "")

    def called_lines(self) -> Iterator[tuple[str, str]]:
        """Name and line, for the lines of functions besides the kernel that are not inlined."""
        name = ""
        for line in (*self.prologue, "}", *self.epilogue):
            if line == "}":
                name = ""
            elif matched := _FUNCTION.match(line):
                name = "" if " alwaysinline" in line else matched["name"]
            elif name:
                yield name, line


def _read_kernel(header: str, body: list[str]) -> Kernel:
    matched = _KERNEL.match(header)
    assert matched is not None
    numbers = [int(number) for number in re.findall(r"%(\d+)\b", matched["parameters"])]
    # an entry block with no label takes the number after the unnamed parameters
    block = Block(str(max(numbers) + 1 if numbers else 0), None)
    blocks = [block]
    for line in body:
        if line[:1] > " " and (label := _LABEL.match(line)):
            if blocks == [block] and block.label is None and not any(map(str.strip, block.lines)):
                blocks.clear()
            block = Block(label["name"], line)
            blocks.append(block)
        else:
            block.lines.append(line)
    vendor = "nvidia" if matched["convention"] == "ptx_kernel" else "amd"
    group = _ATTRIBUTE_GROUP.search(matched["rest"])
    return Kernel(matched["name"].strip('"'), vendor, header, blocks, group[1] if group else "")
