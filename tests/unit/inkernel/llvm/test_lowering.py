"""What a lowering decided travels behind the text."""

from proton.inkernel.llvm.module import Lowering, read_lowering

LOWERING = Lowering(1024, 4160, 128, {"kernel": "k", "regions": [{"id": 0, "name": "ä \n"}]})


def test_a_lowering_reads_back_from_its_comment() -> None:
    comment = LOWERING.comment()
    assert comment.startswith("; ")
    assert "\n" not in comment
    assert read_lowering(["define", comment, ""]) == LOWERING


def test_text_that_is_not_lowered_has_none() -> None:
    assert read_lowering(["define", "}"]) is None
