"""The text of instructions from their bytes, by the nvdisasm that comes with Triton or CUDA.

Instructions keep their offsets, with no-operations between them, so that the targets of branches
are offsets in the kernel.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from proton.render.mnemonics import mnemonic

_TOOL = "nvdisasm"
_SIZE = 16  # bytes of an instruction
_NO_OPERATION = (0x7918).to_bytes(8, "little") + (0x000FC00000000000).to_bytes(8, "little")
_MOST_BYTES = 1 << 22  # past this, instructions are put side by side
_MOST_REFUSED = 8  # instructions that the tool may not know before it is given up
_TIMEOUT_S = 30
_LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*(?:;|&\w+=|\?\w+|/\*|$)", re.MULTILINE)
_REFUSED = re.compile(r"at address 0x([0-9a-fA-F]+)")
# Instructions that name a place of the kernel, as an address in the image.
_TARGET = re.compile(
    r"((?:@\S+ )?(?:BRA|BSSY|CALL\.REL|RET\.REL|WARPSYNC\.COLLECTIVE)\b.*?)0x([0-9a-f]+)(\W*)"
)

MISSING = "-"
HOW_TO_GET_TEXT = (
    "the text of instructions needs nvdisasm, which Triton and the CUDA toolkit bring; "
    "install one of them or put it on the PATH"
)


Codes = Mapping[int, bytes]  # offset -> the bytes of an instruction


class Disassembly(NamedTuple):
    """Texts by offset, and one line on what is missing; an empty one where nothing is."""

    texts: Mapping[int, str]
    remark: str = ""


def disassemble(codes: Codes, arch: int | None, tool: str | None = "") -> Disassembly:
    """The text of every instruction: in full, else its name alone, else its bytes.

    Args:
        codes: Offset in the kernel -> its 16 bytes; none where they were not recorded.
        arch: 90 for sm_90.
        tool: The nvdisasm to run; "" looks for one, None runs none.
    """
    return disassemble_all([(codes, arch)], tool)[0]


def disassemble_all(
    kernels: Sequence[tuple[Codes, int | None]], tool: str | None = ""
) -> list[Disassembly]:
    """`disassemble` for several kernels, each with its architecture, in few runs of the tool.

    A run takes a third of a second however little there is to do, so that many kernels share one.
    """
    path = find_nvdisasm() if tool == "" else tool
    found: dict[int, dict[int, str]] = {}
    faults: dict[int, str] = {}
    for arch, group in _groups(kernels):
        if path is None:
            break
        try:
            found |= _run(path, {at: _known(kernels[at][0]) for at in group}, arch)
        except _RefusedError as error:
            faults |= dict.fromkeys(group, f"{path}: {error}; {HOW_TO_GET_TEXT}")
    results = []
    for at, (codes, known_arch) in enumerate(kernels):
        texts = {offset: _without_tool(code) for offset, code in codes.items()}
        remark = faults.get(at) or _remark(codes, known_arch, path, found.get(at, {}))
        results.append(Disassembly(texts | found.get(at, {}), remark))
    return results


def _remark(codes: Codes, arch: int | None, path: str | None, texts: Mapping[int, str]) -> str:
    known = _known(codes)
    if not known:
        return "the recording has no bytes of these instructions"
    if not arch:
        return "the recording does not say for which GPU the code is"
    if path is None:
        return HOW_TO_GET_TEXT
    remarks = []
    if len(known) < len(codes):
        remarks.append(f"{MISSING}: the recording has no bytes of this instruction")
    if len(texts) < len(known):
        remarks.append("nvdisasm does not know some of the instructions: a newer one may")
    return "; ".join(remarks)


def _known(codes: Codes) -> Codes:
    return {offset: code for offset, code in codes.items() if len(code) == _SIZE}


def _groups(kernels: Sequence[tuple[Codes, int | None]]) -> Iterator[tuple[int, list[int]]]:
    """Architectures with kernels that share a run, of one image each that is not too large."""
    groups: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    for at, (codes, arch) in enumerate(kernels):
        if not arch or not (known := _known(codes)):
            continue
        size = max(_places(known).values()) + _SIZE
        if arch in groups and sizes[arch] + size > _MOST_BYTES:
            yield arch, groups.pop(arch)
        sizes[arch] = size + (sizes[arch] if arch in groups else 0)
        groups.setdefault(arch, []).append(at)
    yield from groups.items()


def find_nvdisasm() -> str | None:
    """The path of nvdisasm: Triton's, else the toolkit's; None where there is none."""
    folders = []
    try:
        triton = importlib.util.find_spec("triton")  # does not import it
    except (ImportError, ValueError):
        triton = None
    if triton is not None and triton.origin:
        folders.append(Path(triton.origin).parent / "backends" / "nvidia" / "bin")
    folders += [
        Path(home) / "bin" for key in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(key))
    ]
    for folder in folders:
        if os.access(folder / _TOOL, os.X_OK):
            return str(folder / _TOOL)
    return shutil.which(_TOOL)


class _RefusedError(Exception):
    """What nvdisasm said when it did not do its work."""


def _without_tool(code: bytes) -> str:
    return mnemonic(code) or (f"0x{code[::-1].hex()}" if code else MISSING)


def _run(tool: str, kernels: Mapping[int, Codes], arch: int) -> dict[int, dict[int, str]]:
    """Kernel -> offset -> text of what the tool knows, with the kernels one behind the other."""
    bases: dict[int, int] = {}
    owners: dict[int, tuple[int, int]] = {}  # place in the image -> kernel and offset
    end = 0
    for at, codes in kernels.items():
        bases[at] = end
        places = _places(codes)
        owners |= {end + place: (at, offset) for offset, place in places.items()}
        end += max(places.values()) + _SIZE
    image = bytearray(_NO_OPERATION * (end // _SIZE))
    for place, (at, offset) in owners.items():
        image[place : place + _SIZE] = kernels[at][offset]
    refused: set[int] = set()
    while True:
        output, fault = _call(tool, bytes(image), arch)
        if not fault:
            break
        match = _REFUSED.search(fault)
        place = int(match[1], 16) if match else -1
        if place not in owners or place in refused or len(refused) >= _MOST_REFUSED:
            raise _RefusedError(fault.splitlines()[0].strip())
        refused.add(place)
        image[place : place + _SIZE] = _NO_OPERATION
    texts: dict[int, dict[int, str]] = {at: {} for at in kernels}
    for line in _LINE.finditer(output):
        place = int(line[1], 16)
        if place in owners and place not in refused and line[2]:
            at, offset = owners[place]
            texts[at][offset] = _relative(" ".join(line[2].split()), bases[at])
    return texts


def _relative(text: str, base: int) -> str:
    """A branch with its target as an offset in its kernel, which stands at `base` in the image."""
    match = _TARGET.fullmatch(text) if base else None
    if match is None or int(match[2], 16) < base:
        return text
    return f"{match[1]}{int(match[2], 16) - base:#x}{match[3]}"


def _places(codes: Codes) -> dict[int, int]:
    """Where each instruction stands in the image: at its offset if that is a usual one."""
    offsets = sorted(codes)
    if offsets[-1] < _MOST_BYTES and all(offset % _SIZE == 0 for offset in offsets):
        return {offset: offset for offset in offsets}
    return {offset: at * _SIZE for at, offset in enumerate(offsets)}


def _call(tool: str, image: bytes, arch: int) -> tuple[str, str]:
    """What the tool prints for `image`, and what it complains about."""
    with tempfile.TemporaryDirectory(prefix="proton-sass-") as folder:
        file = Path(folder) / "code"
        file.write_bytes(image)
        command = [tool, "--binary", f"SM{arch}", "--no-dataflow", str(file)]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=_TIMEOUT_S, check=False, errors="replace"
            )
        except subprocess.TimeoutExpired:
            raise _RefusedError(f"did not answer within {_TIMEOUT_S} s") from None
        except OSError as error:
            raise _RefusedError(f"cannot be run: {error.strerror}") from None
    if done.returncode == 0:
        return done.stdout, ""
    return "", done.stderr.strip() or f"exit code {done.returncode}"
