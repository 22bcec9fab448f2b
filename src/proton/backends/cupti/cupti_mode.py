"""The cupti backend's mode string as a frozen object."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proton._mode_text import split_modes
from proton.backends.cupti.sampling_mode import GRAPH_DETAILS, PCSampling, parse_sampling
from proton.errors import UsageError

SAMPLING = "pcsampling"
# option -> its values
OPTIONS = {
    "graphs": GRAPH_DETAILS,
    "unified_memory": ("on", "off"),
    "copies": ("on", "off"),
}


@dataclass(frozen=True, slots=True)
class CuptiMode:
    """What a session asks of CUPTI.

    Attributes:
        graphs: `"node"`: an event for each kernel of a replayed graph; `"graph"`: one a replay.
        sampling: how instructions are sampled; None: they are not.
        unified_memory: `"on"`: an event for each migration of managed memory.
        copies: `"off"`: no events for copies and memsets.
    """

    graphs: str = "node"
    sampling: PCSampling | None = None
    unified_memory: str = "off"
    copies: str = "on"

    def __str__(self) -> str:
        """The text that parses back to this mode."""
        asked = {} if self.graphs == "node" or self.sampling else {"graphs": self.graphs}
        if self.unified_memory != "off":
            asked["unified_memory"] = self.unified_memory
        if self.copies != "on":
            asked["copies"] = self.copies
        options = ":".join(f"{key}={value}" for key, value in asked.items())
        return "+".join(filter(None, (str(self.sampling or ""), options)))


def parse_mode(text: str) -> CuptiMode:
    """The mode that `text` spells: `""`, `"graphs=graph"`, `"pcsampling:interval=4096"`, ...

    Options of the empty mode, which stands beside any other, are those of `OPTIONS`.

    Raises:
        UsageError: a mode, an option or a value that does not exist or is out of its range.
    """
    options: dict[str, str] = {}
    sampling: PCSampling | None = None
    for mode in split_modes(text):
        if mode.name == SAMPLING:
            if sampling is not None:
                raise UsageError(f"mode {SAMPLING!r} is given twice in {text!r}; give it once")
            sampling = parse_sampling(mode)
            continue
        if mode.name:
            raise UsageError.unknown("mode of backend 'cupti'", mode.name, choices=(SAMPLING,))
        for key, value in mode.options.items():
            if key not in OPTIONS:
                raise UsageError.unknown("option of backend 'cupti'", key, choices=OPTIONS)
            if value not in OPTIONS[key]:
                raise UsageError.unknown(f"value of option {key!r}", value, choices=OPTIONS[key])
            options[key] = value
    if sampling is not None:
        sampling = replace(sampling, graphs=options.get("graphs", sampling.graphs))
        options["graphs"] = sampling.graphs
    return CuptiMode(sampling=sampling, **options)
