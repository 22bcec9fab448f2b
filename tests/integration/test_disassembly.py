"""Instructions of recorded cubins: their text from bytes alone, and their names without a tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton import _native
from proton.render.mnemonics import mnemonic
from proton.render.nvdisasm import disassemble, find_nvdisasm

pytestmark = pytest.mark.skipif(find_nvdisasm() is None, reason="needs nvdisasm")

FOLDER = Path(__file__).resolve().parents[1] / "data" / "cubins"
CUBINS = sorted(FOLDER.glob("*.cubin"))


def name_in(text: str) -> str:
    """`@!P0 LDG.E R14, ...` -> `LDG`."""
    words = [word for word in text.split() if not word.startswith("@")]
    return words[0].split(".")[0]


@pytest.mark.parametrize("path", CUBINS, ids=lambda path: path.stem)
def test_every_instruction_has_a_text_and_names_agree(path: Path) -> None:
    cubin = _native.Cubin(path.read_bytes())
    named = total = 0
    for function in cubin.functions():
        code = cubin.code(function)
        codes = {offset: code[offset : offset + 16] for offset in range(0, len(code), 16)}
        texts, remark = disassemble(codes, cubin.architecture)
        assert remark == ""
        for offset, text in texts.items():
            found = mnemonic(codes[offset])
            assert found in (None, name_in(text)), f"{function} at {offset:#x}: {text}"
            named += found is not None
            total += 1
    assert named > 0.9 * total, f"{named} of {total} have a name"
