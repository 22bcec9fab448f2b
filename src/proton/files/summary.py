"""The `proton` key: what a file says about the recording as a whole, checked and as model types."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from proton.errors import FormatError
from proton.files import schema
from proton.files.checks import is_integer, is_text, short
from proton.files.fields import Fields
from proton.files.in_kernel import read_in_kernel
from proton.files.ranks import ranks_object, read_ranks
from proton.files.sampling import read_sampling, sampling_object
from proton.model.device import Device
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import MetricKind
from proton.model.profile import Header, Profile
from proton.model.ranks import Rank
from proton.model.sampling import Sampling
from proton.model.schema import FORMAT_VERSION, to_object


class Summary(NamedTuple):
    """The `proton` key, read. `kinds` is None where the file does not say."""

    header: Header
    metric_kinds: dict[str, MetricKind]
    losses: dict[str, int]
    warnings: tuple[str, ...]
    autotune: tuple[dict[str, Any], ...]
    phases: tuple[int, ...]
    kinds: str | None
    kernels: object  # not checked yet: the tree says how many rows there are
    devices: tuple[Device, ...]
    sampling: Sampling | None = None
    in_kernel: tuple[RecordedKernel, ...] = ()
    ranks: tuple[Rank, ...] = ()


def read_summary(found: object, source: str) -> Summary:
    """The summary in `found`, the value of the `proton` key, or None without that key."""
    if found is None:
        found = {}
    if type(found) is not dict:
        raise FormatError(f"{source}: proton must be an object, not {short(found)}")
    fields = Fields(source, "proton", found)
    version = fields.integer("format")
    if version is not None and version > FORMAT_VERSION:
        raise FormatError(
            f"{source}: format {version} is newer than this Proton reads "
            f"({FORMAT_VERSION}); install a newer proton-profiler"
        )
    phase = fields.integer("phase")
    phases = fields.integers("phases")
    return Summary(
        header=_read_header(fields),
        metric_kinds=_read_metric_kinds(fields),
        losses=_read_losses(fields),
        warnings=fields.texts("warnings"),
        autotune=fields.records("autotune"),
        phases=(phase,) if phase is not None else phases or (0,),
        kinds=fields.text("kinds") or None,
        kernels=found.get("kernels"),
        devices=read_devices(found.get("devices", {}), source),
        sampling=read_sampling(found.get("sampling"), source),
        in_kernel=read_in_kernel(found.get("in_kernel"), source),
        ranks=read_ranks(found.get("ranks"), source),
    )


def _read_header(fields: Fields) -> Header:
    return Header(
        session=fields.text("session"),
        context=fields.text("context"),
        data=fields.text("data"),
        backends=fields.texts("backends"),
        mode=fields.text("mode"),
        command=fields.texts("command"),
        host=fields.text("host"),
        pid=fields.integer("pid"),
        rank=fields.integer("rank"),
        proton_version=fields.text("version"),
        python_version=fields.text("python"),
        triton_version=fields.text("triton"),
        start_time_ns=fields.integer("start_time_ns"),
        end_time_ns=fields.integer("end_time_ns"),
    )


def _read_metric_kinds(fields: Fields) -> dict[str, MetricKind]:
    kinds = fields.mapping("metric_kinds")
    names = {kind.value for kind in MetricKind}
    if not all(type(value) is str and value in names for value in kinds.values()):
        raise fields.wrong("metric_kinds", f"an object of {', '.join(sorted(names))}")
    return {metric: MetricKind(value) for metric, value in kinds.items()}


def _read_losses(fields: Fields) -> dict[str, int]:
    losses = fields.mapping("losses")
    if not all(is_integer(value) for value in losses.values()):
        raise fields.wrong("losses", "an object of counts")
    return dict(losses)


def read_devices(found: object, source: str) -> tuple[Device, ...]:
    """The devices of a device map: device type -> device id -> attributes."""
    if type(found) is not dict:
        raise FormatError(f"{source}: the device map must be an object, not {short(found)}")
    devices = []
    for device_type, by_id in found.items():
        if not is_text(device_type) or type(by_id) is not dict:
            raise FormatError(f"{source}: device type {short(device_type)} must hold an object")
        for device_id, attributes in by_id.items():
            if not is_text(device_id) or type(attributes) is not dict:
                raise FormatError(f"{source}: device {short(device_id)} must be an object")
            devices.append(_read_device(device_type, device_id, attributes, source))
    return tuple(devices)


def _read_device(
    device_type: str, device_id: str, attributes: dict[str, Any], source: str
) -> Device:
    fields = Fields(source, f"device {short(device_type)} {short(device_id)}", attributes)
    arch = attributes.get("arch")
    return Device(
        device_type=device_type,
        device_id=device_id,
        arch=str(arch) if is_integer(arch) else fields.text("arch"),
        num_sms=fields.integer("num_sms"),
        clock_rate_khz=fields.integer("clock_rate"),
        memory_clock_rate_khz=fields.integer("memory_clock_rate"),
        bus_width=fields.integer("bus_width"),
        name=fields.text("name") or None,
        clock_residual_ns=fields.integer("clock_residual_ns"),
    )


def device_map(profile: Profile) -> schema.DeviceMap:
    """The devices of `profile` as they stand in a file; what is not known is left out."""
    found: schema.DeviceMap = {}
    for device in profile.devices:
        attributes = {
            "arch": device.arch,
            "bus_width": device.bus_width,
            "clock_rate": device.clock_rate_khz,
            "memory_clock_rate": device.memory_clock_rate_khz,
            "num_sms": device.num_sms,
            "name": device.name,
            "clock_residual_ns": device.clock_residual_ns,
        }
        known = {key: value for key, value in attributes.items() if value is not None}
        by_id = found.setdefault(device.device_type, {})
        by_id[device.device_id] = cast(schema.DeviceObject, known)
    return found


def summary_object(profile: Profile) -> dict[str, Any]:
    """What `profile` says of the recording as a whole, as the value of a `proton` key."""
    header = profile.header
    fields: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "version": header.proton_version,
        "session": header.session,
        "context": header.context,
        "data": header.data,
        "backends": list(header.backends),
        "mode": header.mode,
        "phases": list(profile.phases) if tuple(profile.phases) != (0,) else [],
        "command": list(header.command),
        "host": header.host,
        "pid": header.pid,
        "rank": header.rank,
        "python": header.python_version,
        "triton": header.triton_version,
        "start_time_ns": header.start_time_ns,
        "end_time_ns": header.end_time_ns,
        "losses": dict(profile.losses),
        "warnings": list(profile.warnings),
        "autotune": [dict(record) for record in profile.autotune],
        "metric_kinds": {metric: kind.value for metric, kind in profile.metric_kinds.items()},
        "sampling": None if profile.sampling is None else sampling_object(profile.sampling),
        "in_kernel": [to_object(kernel) for kernel in profile.in_kernel],
        "ranks": ranks_object(profile.ranks),
    }
    said = {key: value for key, value in fields.items() if value not in ("", None, [], {})}
    if profile.sampling is not None:
        said.setdefault("sampling", {})  # that nothing is known of it is still said
    return said
