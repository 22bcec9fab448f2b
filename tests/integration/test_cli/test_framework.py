"""What the command records of a program that imports torch, where nobody asked for a context."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest

from tests.native.fake_cuda.driver import FakeDriver

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")

MODEL = """
import proton
with proton.scope("before"):
    pass
import torch
with proton.scope("step"):
    torch.nn.Sequential(torch.nn.Linear(4, 4))(torch.ones(2, 4))
"""

# A package that is called torch and has none of its library.
FOREIGN = """
__version__ = "9.9"
class Tensor: pass
"""


def head(runner: Any) -> dict[str, Any]:
    """What the profile says of itself, and the kinds of its frames."""
    said: dict[str, Any] = json.loads((runner.folder / "proton.hatchet").read_text())[0]["proton"]
    return said | {"kinds": "".join(sorted(set(said["kinds"])))}


@pytest.mark.torch
@needs_torch
def test_without_a_gpu_a_program_with_torch_gets_operators_below_modules(runner: Any) -> None:
    runner.write("model.py", MODEL)
    ended = runner.proton("model.py", PROTON_CUDA_LIBRARY="")
    assert ended.code == 0, ended.err
    said = head(runner)
    assert said["context"] == said["framework_context"]["tier"] == "ops"
    assert said["kinds"] == "moprs"
    [linear] = [path for path in runner.paths() if path[-1] == "aten::linear"]
    assert (linear[0], linear[2:]) == ("step", ("Sequential", "0", "aten::linear"))
    assert linear[1].endswith("model.py:7@<module>")


@pytest.mark.torch
@needs_torch
def test_with_a_gpu_it_gets_modules_and_backward_work(runner: Any, fake_driver_folder: Any) -> None:
    runner.write("model.py", MODEL)
    ended = runner.proton("model.py", **FakeDriver(fake_driver_folder).environment)
    assert ended.code == 0, ended.err
    said = head(runner)
    assert said["context"] == said["framework_context"]["tier"] == "blame"


@pytest.mark.torch
@needs_torch
def test_shadow_gives_what_the_known_command_gives(runner: Any) -> None:
    runner.write("model.py", MODEL)
    assert runner.proton("-c", "shadow", "model.py").code == 0
    said = head(runner)
    assert said["kinds"] == "rs"
    assert "framework_context" not in said


def test_a_program_without_torch_gets_scopes(runner: Any) -> None:
    runner.write("plain.py", "import proton\nwith proton.scope('a'): pass\n")
    assert runner.proton("plain.py").code == 0
    said = head(runner)
    assert said["kinds"] == "rs"
    assert said["context"] == "shadow"


def test_a_torch_that_does_not_fit_costs_a_sentence_and_nothing_else(runner: Any) -> None:
    runner.write("torch.py", FOREIGN)
    runner.write("main.py", "import torch, proton\nwith proton.scope('a'): pass\n")
    ended = runner.proton("main.py")
    assert ended.code == 0, ended.err
    sentence = "operators and backward work of torch 9.9 are not recorded"
    assert len([line for line in ended.said if sentence in line]) == 1
    said = head(runner)
    assert sentence in said["framework_context"]["refused"]
    assert [line for line in said["warnings"] if sentence in line]
    assert said["kinds"] == "rs"


@pytest.mark.torch
@needs_torch
def test_a_session_that_is_started_before_torch_observes_it_once_it_is_there(runner: Any) -> None:
    program = MODEL.replace("import proton", "import proton\nproton.start(context='ops')")
    runner.write("model.py", program)
    assert runner.python("model.py").code == 0
    [linear] = [path for path in runner.paths() if path[-1] == "aten::linear"]
    assert linear[2:] == ("Sequential", "0", "aten::linear")
