"""Why a warp did not issue an instruction: what each reason means and what usually helps.

The reasons are those of NVIDIA GPUs from Volta to Blackwell, under the names of the hardware; files
of other tools spell two of them differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from proton.model.sampling import STALLED

SELECTED = "selected"
NO_REASON = "no reason given"  # samples of which only their number is known


class Reason(NamedTuple):
    """One sentence on what a reason means, one on what usually helps."""

    meaning: str
    remedy: str


UNKNOWN = Reason(
    "A reason that this version of Proton does not know.",
    "See the reference of warp states of Nsight Compute.",
)

_WITHOUT = Reason(
    "The warp issued an instruction, or was seen without a word on why it waits.",
    "Nothing to do; the larger this share, the less is known to wait.",
)

REASONS: Mapping[str, Reason] = MappingProxyType(
    {
        "selected": Reason(
            "The warp issued an instruction: this is progress, not waiting.",
            "Nothing to do; the larger this share, the less the line waits.",
        ),
        "not_selected": Reason(
            "The warp was ready, but the scheduler issued another one.",
            "Nothing is short here: there are warps enough, and fewer with larger tiles may do.",
        ),
        "long_scoreboard": Reason(
            "It waits for data from global or local memory, or from a texture.",
            "Load earlier (more num_stages), in wide and contiguous accesses, and reuse data "
            "through shared memory.",
        ),
        "short_scoreboard": Reason(
            "It waits for shared memory or for the unit of special functions such as exp.",
            "Avoid bank conflicts, use wider accesses and fewer special functions, and put other "
            "work between the request and its use.",
        ),
        "wait": Reason(
            "It sits out the fixed few cycles that an instruction before it takes.",
            "Independent work hides it: more warps, or more elements per thread; a small share is "
            "normal.",
        ),
        "barrier": Reason(
            "It waits for the other warps of its block at a barrier.",
            "Share the work out evenly among warps, synchronise less often, or use fewer warps per "
            "block (num_warps).",
        ),
        "membar": Reason(
            "It waits until a memory fence has made its writes visible.",
            "Use fewer fences, and none wider than needed: block instead of device or system "
            "scope, relaxed atomics.",
        ),
        "lg_throttle": Reason(
            "The queue for global and local memory is full.",
            "Make fewer and wider accesses, and look for spilled registers, which go to local "
            "memory.",
        ),
        "mio_throttle": Reason(
            "The queue for shared memory, special functions and shuffles is full.",
            "Make fewer and wider accesses to shared memory, and fewer special functions in a row.",
        ),
        "tex_throttle": Reason(
            "The queue of the texture unit is full.",
            "Make fewer and wider texture and surface accesses, or load through global memory.",
        ),
        "math_pipe_throttle": Reason(
            "The arithmetic or tensor unit that the instruction needs is busy.",
            "The unit is the limit, which is good near its peak; else do less on it: tensor cores, "
            "smaller types, fewer instructions.",
        ),
        "imc_miss": Reason(
            "It waits for a constant, such as an argument of the kernel, that is not cached.",
            "It is normal at the start of short kernels; else touch fewer constants and do more "
            "work in a launch.",
        ),
        "no_instructions": Reason(
            "The next instruction is not there yet: it was not in the instruction cache, or the "
            "warp has just jumped.",
            "Make the code smaller (less unrolling) and launches longer; very short kernels always "
            "show it.",
        ),
        "branch_resolving": Reason(
            "It waits until the target of a branch is known.",
            "Have fewer branches: unroll short loops, and use masks or selects instead of ifs.",
        ),
        "dispatch_stall": Reason(
            "The instruction was chosen, but held back because of a conflict or of a resource "
            "that was taken.",
            "It is usually small; a large share comes with heavy tensor or register traffic, which "
            "other tile sizes change.",
        ),
        "drain": Reason(
            "The warp is done and waits until its stores have reached memory.",
            "Store in wide and contiguous accesses, and give each program more to do before its "
            "end.",
        ),
        "sleeping": Reason(
            "All threads of the warp sleep, have yielded or are blocked, as the code told them to.",
            "Spin or sleep for less time, and look at what the warp waits for.",
        ),
        "warpgroup_arrive": Reason(
            "It waits for the four warps of its group to get ready for a matrix instruction "
            "(wgmma), or for such an instruction to end.",
            "Keep more of them in flight: deeper pipelines (num_stages), larger tiles, fewer waits "
            "between them.",
        ),
        "gmma": Reason(
            "It waits for the tensor cores to take or finish an asynchronous matrix instruction.",
            "Near the peak rate that is as it should be; else use larger tiles and overlap the "
            "work around it.",
        ),
        "misc": Reason(
            "Something rare that has no name of its own.",
            "Seldom worth a look; if it is large, look at the instruction with --sass.",
        ),
    }
)

# What other tools write behind `stalled_` -> the name of the hardware.
_OTHER_SPELLINGS = {"not_Selected": "not_selected", "no_instruction": "no_instructions"}


@cache
def reason_of_metric(metric: str) -> str | None:
    """`"stalled_not_Selected"` -> `"not_selected"`; None for a metric that counts no reason."""
    if not metric.startswith(STALLED) or metric == STALLED:
        return None
    name = metric.removeprefix(STALLED)
    return _OTHER_SPELLINGS.get(name, name)


def explain(reason: str) -> Reason:
    """What `reason` means and what helps; `UNKNOWN` for one of hardware to come."""
    return _WITHOUT if reason == NO_REASON else REASONS.get(reason, UNKNOWN)
