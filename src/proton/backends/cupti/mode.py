"""The cupti backend's mode string as a frozen object."""

from __future__ import annotations

from dataclasses import dataclass

from proton.errors import BackendUnavailable, UsageError
from proton.inkernel.mode import split_modes

GRAPH_DETAILS = ("node", "graph")


@dataclass(frozen=True, slots=True)
class CuptiMode:
    """What a session asks of CUPTI.

    Attributes:
        graphs: `"node"`: an event for each kernel of a replayed graph; `"graph"`: one a replay.
    """

    graphs: str = "node"


def parse_mode(text: str) -> CuptiMode:
    """The mode that `text` spells: `""`, `"graphs=node"` or `"graphs=graph"`.

    Raises:
        UsageError: a mode, an option or a value that does not exist.
        BackendUnavailable: `pcsampling`, which this version does not have.
    """
    graphs = "node"
    for mode in split_modes(text):
        if mode.name == "pcsampling":
            raise BackendUnavailable(
                "cupti",
                reason="this version of proton has no mode 'pcsampling' yet",
                remedy="leave the mode out to time kernels",
            )
        if mode.name:
            raise UsageError.unknown("mode of backend 'cupti'", mode.name, choices=("pcsampling",))
        for key, value in mode.options.items():
            if key != "graphs":
                raise UsageError.unknown("option of backend 'cupti'", key, choices=("graphs",))
            if value not in GRAPH_DETAILS:
                raise UsageError.unknown("value of option 'graphs'", value, choices=GRAPH_DETAILS)
            graphs = value
    return CuptiMode(graphs)
