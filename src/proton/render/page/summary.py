"""The part `summary`: how long, where, and is it good; plus what the file holds and lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton.analysis.losses import losses_of
from proton.analysis.measurements import raw_metrics, whole_of
from proton.analysis.several_devices import DeviceTotal, device_totals
from proton.analysis.whole_rates import Rates, whole_rates
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS
from proton.model.profile import TreeProfile
from proton.render.page.pack import record_of
from proton.render.page.roofline import RoofDevice, roof_device
from proton.render.text.head import device_names, framework_text, refused_lines

_SUMMED = (TIME_NS, CPU_TIME_NS, COUNT)


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """What the first screen says: how long, where, and is it good; what was recorded, and how.

    Times are nanoseconds, shares 0 to 1; null: not known. Texts are empty where the file has none.
    """

    device: str
    devices: Sequence[RoofDevice]
    by_device: Sequence[DeviceTotal]  # where there are several
    is_interpreted: bool
    time_metric: str | None
    time_ns: float | None
    kernels: float | None
    contexts: int
    phases: int
    ranks: int
    lost: Mapping[str, int]
    says_losses: bool
    warnings: Sequence[str]
    command: Sequence[str]
    host: str
    start_time_ns: int | None  # Unix time
    end_time_ns: int | None
    framework: str  # what was recorded of one: `ops, torch 2.13.0`
    refused: str  # why not more of it
    backends: Sequence[str]
    mode: str
    proton_version: str
    triton_version: str
    python_version: str
    rates: Rates


def summary_part(profile: TreeProfile) -> SummaryPart:
    """The summary of a profile that `prepare` returned."""
    tree = profile.tree
    names = raw_metrics(tree)
    wholes = {name: whole_of(tree, name) for name in _SUMMED if name in names}
    metric = next((name for name in (TIME_NS, CPU_TIME_NS) if wholes.get(name)), None)
    header = profile.header
    return record_of(
        SummaryPart,
        header,
        device=device_names(profile),
        devices=[roof_device(device) for device in profile.devices],
        by_device=device_totals(profile),
        is_interpreted=profile.is_interpreted,
        time_metric=metric,
        time_ns=None if metric is None else wholes[metric],
        kernels=wholes.get(COUNT),
        contexts=len(tree),
        phases=len(profile.phases),
        ranks=len(profile.ranks),
        lost=losses_of(profile),
        says_losses=bool(header.proton_version),
        warnings=profile.warnings,
        rates=whole_rates(profile),
        framework=framework_text(profile),
        refused="".join(refused_lines(profile)),
    )
