"""The cupti backend's mode string as a frozen object."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proton.errors import UsageError
from proton.inkernel.mode import split_modes
from proton.inkernel.sampling import GRAPH_DETAILS, PCSampling, parse_sampling

SAMPLING = "pcsampling"


@dataclass(frozen=True, slots=True)
class CuptiMode:
    """What a session asks of CUPTI.

    Attributes:
        graphs: `"node"`: an event for each kernel of a replayed graph; `"graph"`: one a replay.
        sampling: how instructions are sampled; None: they are not.
    """

    graphs: str = "node"
    sampling: PCSampling | None = None

    def __str__(self) -> str:
        """The text that parses back to this mode."""
        if self.sampling is not None:
            return str(self.sampling)
        return "" if self.graphs == "node" else f"graphs={self.graphs}"


def parse_mode(text: str) -> CuptiMode:
    """The mode that `text` spells: `""`, `"graphs=graph"`, `"pcsampling:interval=4096"`, ...

    Raises:
        UsageError: a mode, an option or a value that does not exist or is out of its range.
    """
    graphs: str | None = None
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
            if key != "graphs":
                raise UsageError.unknown("option of backend 'cupti'", key, choices=("graphs",))
            if value not in GRAPH_DETAILS:
                raise UsageError.unknown("value of option 'graphs'", value, choices=GRAPH_DETAILS)
            graphs = value
    if sampling is None:
        return CuptiMode(graphs or "node")
    if graphs is not None:
        sampling = replace(sampling, graphs=graphs)
    return CuptiMode(sampling.graphs, sampling)
