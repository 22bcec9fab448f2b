"""One list of what was lost, for every view."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.losses import NON_USER, losses_of
from tests.support.in_kernel import KERNEL
from tests.support.profiles import profile_of


def test_events_and_records_are_kinds_apart_and_what_is_no_loss_is_left_out() -> None:
    lossy = replace(KERNEL, losses={"overflowed_records": 3, "unread_replays": 9})
    profile = replace(
        profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]),
        in_kernel=(lossy, lossy),
        losses={"dropped": 2, NON_USER: 41, "none": 0},
    )
    assert losses_of(profile) == {"dropped": 2, "in-kernel overflowed_records": 6}
