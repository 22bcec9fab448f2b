"""The `sampling` object, both ways, and what is wrong with a damaged one."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.detect import open_profile
from proton.files.encoding.summary import read_summary
from proton.files.read import read_profile
from proton.files.write import to_bytes
from proton.model.sampling import Sampling
from proton.model.schema import to_object
from tests.support.sampling import KERNEL, SAMPLING, TOTALS

DATA = Path(__file__).resolve().parents[2] / "data"
FULL = replace(
    SAMPLING,
    window_ns=30,
    every_ns=100,
    left_out=4,
    kernels=(replace(KERNEL, module="1f", line_samples=TOTALS), *SAMPLING.kernels[1:]),
)
OBJECT = to_object(FULL)


def read_sampling(value: object, source: str) -> Sampling | None:
    return read_summary({"sampling": value}, source).sampling


@pytest.mark.parametrize("sampling", [SAMPLING, FULL, Sampling()])
def test_what_is_written_reads_back_equal(sampling: Sampling) -> None:
    text = json.dumps(to_object(sampling))
    assert read_sampling(json.loads(text), "f") == sampling


def test_a_file_without_sampling_has_none() -> None:
    assert read_sampling(None, "f") is None


def test_every_key_may_be_missing() -> None:
    assert read_sampling({}, "f") == Sampling()
    for key in OBJECT:
        if key not in ("reasons", "lines"):  # others count on these
            read_sampling({other: value for other, value in OBJECT.items() if other != key}, "f")
    for key in OBJECT["kernels"][0]:
        less = {other: value for other, value in OBJECT["kernels"][0].items() if other != key}
        read_sampling(OBJECT | {"kernels": [less]}, "f")


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_a_tree_keeps_its_sampling_in_every_format(output_format: str) -> None:
    profile = read_profile((DATA / "sampled.hatchet").read_bytes(), "f")
    assert profile.sampling is not None
    assert profile.sampling.samples == 4730
    again = read_profile(to_bytes(profile, output_format), "f")
    assert again.sampling == profile.sampling


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_a_trace_keeps_its_sampling_in_every_format(output_format: str) -> None:
    profile = read_profile((DATA / "sampled.chrome_trace").read_bytes(), "f")
    assert profile.sampling is not None
    assert profile.sampling.kernels[0].line_samples
    again = read_profile(to_bytes(profile, output_format), "f")
    assert again.sampling == profile.sampling


def test_json_and_msgpack_of_one_recording_have_one_sampling() -> None:
    text, packed = (open_profile(DATA / f"sampled.{end}") for end in ("hatchet", "hatchet_msgpack"))
    assert text.sampling == packed.sampling


def changed(path: str, value: Any) -> Any:
    """OBJECT with the value at a dotted path replaced."""
    whole: Any = deepcopy(OBJECT)
    at: Any = whole
    *steps, last = path.split(".")
    for step in steps:
        at = at[int(step) if isinstance(at, list) else step]
    at[int(last) if isinstance(at, list) else last] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("samples", -1, "proton.sampling.samples must be zero or more, not -1"),
        ("samples", 1.5, "proton.sampling.samples must be an integer"),
        ("is_split", 1, "proton.sampling.is_split must be true or false, not 1"),
        ("reasons", "wait", "proton.sampling.reasons must be a list of texts"),
        ("lines.0", ["k.py", 3], r"proton.sampling.lines\[0\] must be a list of a file, a line"),
        ("lines.0.0", 3, r"proton.sampling.lines\[0\] must name a file and a function"),
        ("lines.0.1", -3, r"proton.sampling.lines\[0\] must have a line number, not -3"),
        ("lines.0.3", 9, r"proton.sampling.lines\[0\] must name one of 3 lines or -1, not 9"),
        ("lines.1.3", 2, r"proton.sampling.lines\[1\] is inlined into itself"),
        ("lines.1.3", 1, r"proton.sampling.lines\[1\] is inlined into itself"),
        ("files", [], "proton.sampling.files must be an object"),
        ("files", {"a": 1}, r"proton.sampling.files\['a'\] must be an object, not 1"),
        ("kernels.0", 5, r"proton.sampling.kernels\[0\] must be an object, not 5"),
        ("kernels.0.symbol", 5, r"proton.sampling.kernels\[0\].symbol must be text, not 5"),
        ("kernels.1.arch", "90", r"proton.sampling.kernels\[1\].arch must be an integer"),
        ("kernels.0.instructions.0", [], r"kernels\[0\] must have instructions of an offset"),
        ("kernels.0.instructions.0.0", -16, r"kernels\[0\] must have instructions with an offset"),
        ("kernels.0.instructions.0.1", "A" * 24, r"must have codes of at most 16 bytes as base64"),
        (
            "kernels.0.instructions.0.1",
            "?",
            r"must have codes of at most 16 bytes as base64, not '\?'",
        ),
        ("kernels.0.instructions.0.2", 3, r"kernels\[0\] must name one of 3 lines or -1, not 3"),
        ("kernels.0.instructions.0.3", "1", r"must have counts of samples that are zero or more"),
        ("kernels.0.instructions.0.5", [], r"must have reasons that are an object, not a list"),
        ("kernels.0.instructions.0.5", {"3": 1}, r"must have one of 3 reasons, not '3'"),
        ("kernels.0.instructions.0.5", {"x": 1}, r"must have one of 3 reasons, not 'x'"),
        ("kernels.0.instructions.0.5", {"0": -1}, r"must have counts that are zero or more"),
        ("kernels.0.line_samples.0", [0], r"must have line_samples of a line, counts and reasons"),
        ("kernels.0.line_samples.0.0", 7, r"must name one of 3 lines or -1, not 7"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path: str, value: Any, message: str) -> None:
    with pytest.raises(FormatError, match=f"^f: .*{message}"):
        read_sampling(changed(path, value), "f")


def test_something_else_in_its_place_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^f: proton.sampling must be an object, not 7$"):
        read_sampling(7, "f")
