"""Random profiles under random options: a view or one clear error, never a traceback."""

from __future__ import annotations

import random
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.errors import ProtonError
from proton.model.device import Device
from proton.model.frame import Frame, FrameKind
from proton.model.metric import MetricKind, MetricValue
from proton.model.profile import Header, TreeProfile
from proton.model.sampling import Sampling
from proton.model.tree import Tree
from proton.render.text.annotated_source import annotated_source
from proton.render.text.sass import hot_instructions
from proton.render.text.style import ASCII, UNICODE, Style
from proton.render.text.table import metric_lines
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions
from tests.support.sampling import SAMPLING

NAMES = ["a", "matmul", "_Z3fooi", "_ZN2at", "x/y.py:3@f", "\x1b[2J", "", "模型", "é" * 200, "ROOT"]
METRICS = ["time (ns)", "count", "cpu_time (ns)", "flops16", "flops", "bytes", "x (us)", "y (inc)"]
METRICS += ["device_id", "device_type", "time (odd)", "(", "\x1b"]
METRICS += ["num_samples", "num_latency_samples", "stalled_wait", "stalled_\x1b"]
WORDS = [*METRICS, "time/ms", "time/%", "avg_time/us", "util", "bound", "intensity", "headroom/s"]
WORDS += ["tflop16/s", "flop/s", "gbyte/s", "x/ms", "y/%", "cpu_time/%", "nope", "time/", "/", "%"]
DEVICES = [
    Device("CUDA", "0", "90", 132, 1_980_000, 3_201_000, 6144),
    Device("CUDA", "1", "80"),
    Device("CPU", "0", "interpreter"),
    Device("\x1b", "\x1b", "\x1b", 0, 0, 0, 0, "\x1b"),
]


def value(dice: random.Random) -> MetricValue:
    choices: list[MetricValue] = [
        0,
        dice.randrange(-(2**63), 2**64),
        dice.random() * 10.0 ** dice.randrange(-320, 308),
        -dice.random(),
        tuple(dice.random() for _ in range(dice.randrange(7))),
        dice.choice(["0", "CUDA", "\x1b[31m"]),
    ]
    return dice.choice(choices)


def profile(dice: random.Random) -> TreeProfile:
    size = dice.randrange(1, 30)
    depths = [0]
    for _ in range(size - 1):
        depths.append(dice.randrange(1, depths[-1] + 2))
    last: dict[int, int] = {}
    parents = []
    for row, depth in enumerate(depths):
        parents.append(last[depth - 1] if depth else -1)
        last[depth] = row
    own = [
        {metric: value(dice) for metric in dice.sample(METRICS, dice.randrange(6))}
        for _ in range(size)
    ]
    frames = [Frame(dice.choice(NAMES), dice.choice(list(FrameKind))) for _ in range(size)]
    return TreeProfile(
        "run.hatchet",
        tree=Tree(frames, parents, own),
        devices=dice.sample(DEVICES, dice.randrange(3)),
        header=Header(proton_version=dice.choice(["", "0.1.0"])),
        metric_kinds={metric: dice.choice(list(MetricKind)) for metric in dice.sample(METRICS, 3)},
        losses={"x\x1b": dice.randrange(3)},
        warnings=["\x1b" * dice.randrange(3)],
        sampling=dice.choice([None, SAMPLING, Sampling(is_split=True, dropped=3)]),
        autotune=[{"kernel": "\x1b", "configs": [{"time_ns": dice.choice([None, 5, "x"])}]}],
    )


def options(dice: random.Random) -> ViewOptions:
    maybe: dict[str, Any] = {
        "include": dice.choice(["a", ".*m", "(", "\x1b", ""]),
        "exclude": dice.choice(["a", ".*", "[", ""]),
        "threshold": dice.choice([0.0, -1.0, 1e300, 5]),
        "depth": dice.choice([0, 1, 3, -1, 10**9]),
        "frame_format": dice.choice(["file_function_line", "function_line", "file_function"]),
        "full": True,
        "is_sorted": True,
        "autotune": True,
    }
    chosen = {name: given for name, given in maybe.items() if dice.random() < 0.3}
    words = [dice.choice(WORDS) for _ in range(dice.randrange(4))]
    return ViewOptions(metrics=words, **chosen)


@pytest.mark.parametrize("seed", range(20))
def test_a_random_profile_is_shown_or_refused_in_one_line(seed: int) -> None:
    dice = random.Random(seed)
    views = 0
    for _ in range(60):
        style = Style(False, dice.choice([None, 1, 40, 80]), dice.choice([ASCII, UNICODE]))
        try:
            shown = prepare(profile(dice))
            against = prepare(profile(dice)) if dice.random() < 0.3 else None
            lines = view_lines(shown, options(dice), style, against)
            if dice.random() < 0.3:
                lines += metric_lines(shown, style)
            view = dice.choice([None, annotated_source, hot_instructions])
            if view is annotated_source:
                lines += annotated_source(shown, dice.choice(["y.py", "k.py"]), style, full=False)
            elif view is hot_instructions:
                lines += hot_instructions(shown, "kernel", style, full=False, tool=None)
        except ProtonError as error:
            lines = [str(error)]
        else:
            views += 1
        assert all("\x1b" not in line and "\n" not in line for line in lines)
    assert views
