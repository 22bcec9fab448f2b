from __future__ import annotations

from proton.render.mnemonics import mnemonic
from tests.support.sampling import BRANCH, LOAD


def test_common_instructions_have_names() -> None:
    assert (mnemonic(LOAD), mnemonic(BRANCH)) == ("LDG", "BRA")


def test_the_name_does_not_depend_on_predicate_or_operands() -> None:
    assert mnemonic(bytes([LOAD[0], LOAD[1] ^ 0xF0]) + bytes(14)) == "LDG"


def test_what_is_not_known_has_none() -> None:
    assert mnemonic(b"\xff" * 16) is None
    assert mnemonic(b"") is None
