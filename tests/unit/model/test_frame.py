"""Frames and the letters of their kinds."""

from __future__ import annotations

from proton.model.frame import ROOT_FRAME, Frame, FrameKind


def test_every_kind_has_a_letter_of_its_own() -> None:
    letters = [kind.value for kind in FrameKind]
    assert len(set(letters)) == len(FrameKind)
    assert all(len(letter) == 1 for letter in letters)


def test_a_frame_is_a_scope_unless_said_otherwise() -> None:
    assert Frame("layer").kind is FrameKind.SCOPE


def test_equal_frames_are_one_key() -> None:
    assert len({Frame("a"), Frame("a"), ROOT_FRAME}) == 2
