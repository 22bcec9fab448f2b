"""What a profile lacks, in one list for all views: lost events, samples, in-kernel records."""

from __future__ import annotations

from proton.model.in_kernel import UNREAD_REPLAYS
from proton.model.profile import Profile

NON_USER = "non_user_samples"  # counted with the losses, but the program lost nothing
IN_KERNEL = "in-kernel "  # stands in front of what kernels lost


def losses_of(profile: Profile) -> dict[str, int]:
    """Kind of loss -> how many were lost; with any of them, not everything is there."""
    lost = {kind: count for kind, count in profile.losses.items() if count and kind != NON_USER}
    for kernel in profile.in_kernel:
        for kind, count in kernel.lost().items():
            if kind != UNREAD_REPLAYS and kind not in profile.losses:
                lost[f"{IN_KERNEL}{kind}"] = lost.get(f"{IN_KERNEL}{kind}", 0) + count
    return lost
