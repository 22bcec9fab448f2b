"""The `proton` key and the device map: checked and as model types, and the other way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_text, short
from proton.files.encoding.codec import Codec
from proton.files.in_kernel import CHECKS
from proton.files.sampling import read_sampling
from proton.model.device import Device
from proton.model.profile import Profile
from proton.model.sampling import Sampling
from proton.model.schema import FORMAT_VERSION, to_object
from proton.model.summary import Summary

_CODEC = Codec(checks=CHECKS, readers={Sampling: read_sampling})


def read_summary(value: object, source: str) -> Summary:
    """The summary in `value`, that of the `proton` key, or None without that key.

    Raises:
        FormatError: Something in it is not as the format says; one line that names the place.
    """
    version = value.get("format") if type(value) is dict else None
    if is_integer(version) and version > FORMAT_VERSION:
        raise FormatError(
            f"{source}: format {version} is newer than this Proton reads "
            f"({FORMAT_VERSION}); install a newer proton-profiler"
        )
    summary = _CODEC.read(Summary, {} if value is None else value, source, "proton")
    own = summary.phases or (0,) if summary.phase is None else (summary.phase,)
    devices = () if summary.device_map is None else read_devices(summary.device_map, source)
    return replace(summary, phases=own, devices=devices)


def read_devices(value: object, source: str) -> tuple[Device, ...]:
    """The devices of a device map: device type -> device id -> attributes.

    Raises:
        FormatError: Something in it is not as the format says; one line that names the place.
    """
    if type(value) is not dict:
        raise FormatError(f"{source}: the device map must be an object, not {short(value)}")
    devices = []
    for device_type, by_id in value.items():
        if not is_text(device_type) or type(by_id) is not dict:
            raise FormatError(f"{source}: device type {short(device_type)} must hold an object")
        for device_id, attributes in by_id.items():
            if not is_text(device_id) or type(attributes) is not dict:
                raise FormatError(f"{source}: device {short(device_id)} must be an object")
            place = f"device {short(device_type)} {short(device_id)}"
            if is_integer(arch := attributes.get("arch")):  # Triton's proton writes numbers
                attributes = attributes | {"arch": str(arch)}
            known = {"device_type": device_type, "device_id": device_id}
            devices.append(_CODEC.read(Device, attributes, source, place, **known))
    return tuple(devices)


def device_map(profile: Profile) -> dict[str, dict[str, Any]]:
    """The devices of `profile` as they stand in a file; what is not known is left out."""
    devices: dict[str, dict[str, Any]] = {}
    for device in profile.devices:
        devices.setdefault(device.device_type, {})[device.device_id] = to_object(device)
    return devices


def summary_object(profile: Profile) -> dict[str, Any]:
    """What `profile` says of the recording as a whole, as the value of a `proton` key."""
    return to_object(
        Summary(
            header=profile.header,
            phases=() if tuple(profile.phases) == (0,) else profile.phases,
            losses=profile.losses,
            warnings=profile.warnings,
            autotune=profile.autotune,
            metric_kinds=profile.metric_kinds,
            sampling=profile.sampling,
            in_kernel=profile.in_kernel,
            ranks=profile.ranks,
        )
    )
