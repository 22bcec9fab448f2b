"""A profile phase by phase: how phases differ tells more of chance than neighbouring runs do."""

from __future__ import annotations

from collections.abc import Sequence

from proton.analysis.prepare import prepare
from proton.analysis.run_times import LEAST_BATCHES
from proton.errors import FormatError
from proton.files.detect import open_phases
from proton.model.profile import TreeProfile


def phases_of(profile: TreeProfile) -> Sequence[TreeProfile]:
    """The phases that a profile was put together from, read again; none where they are too few."""
    if len(profile.phases) < LEAST_BATCHES:
        return ()
    try:
        return [prepare(phase) for phase in open_phases(profile.source)]
    except FormatError:
        return ()  # its files are gone, or one of them is empty: what the sum has will do
