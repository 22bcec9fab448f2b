from pathlib import Path

import pytest

from proton.inkernel import passes
from proton.inkernel.passes import PASSES, load_pass, load_pass_class, options_of


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_its_file_and_its_name_are_one_word(name: str) -> None:
    kind = load_pass_class(name)
    assert kind.__module__.rpartition(".")[2] == name.replace("-", "_")
    assert kind.__name__.lower() == name.replace("-", "")
    assert kind.name == name
    assert kind.level in ("ttgir", "llvm")
    assert kind.__doc__


def test_every_file_of_the_room_is_in_the_table() -> None:
    folder = Path(passes.__file__).parent
    names = {path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py")}
    assert names <= set(PASSES)


def test_options_are_converted_to_the_kind_of_their_default() -> None:
    assert options_of(load_pass_class("record-loops")) == {"cap": 64, "whole": True}
    assert load_pass("record-around-ops", {"ops": "load,dot"}) == load_pass_class(
        "record-around-ops"
    )(ops=("load", "dot"))  # type: ignore[call-arg]
