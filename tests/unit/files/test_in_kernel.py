"""The `in_kernel` of a file, both ways and through every format, and what is wrong with others."""

from __future__ import annotations

import json
import re
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
from proton.model.in_kernel import RecordedKernel, Region
from proton.model.profile import Profile
from proton.model.schema import to_object
from tests.support.in_kernel import KERNEL
from tests.support.native import MakeSession, launch

DATA = Path(__file__).resolve().parents[2] / "data"
OBJECT = to_object(KERNEL)


def read_in_kernel(value: object, source: str) -> tuple[RecordedKernel, ...]:
    return tuple(read_summary({"in_kernel": value}, source).in_kernel)


def test_what_is_written_reads_back_equal() -> None:
    thin = RecordedKernel("t", every=0, regions=(Region("a", every=16), Region("b")))
    kernels = (KERNEL, RecordedKernel("k"), replace(KERNEL, ctas=None, replays=10), thin)
    text = json.dumps([to_object(kernel) for kernel in kernels])
    assert read_in_kernel(json.loads(text), "f") == kernels


def test_a_file_without_it_has_none() -> None:
    assert read_in_kernel(None, "f") == ()
    assert read_in_kernel([], "f") == ()


def test_every_key_may_be_missing_or_null() -> None:
    assert read_in_kernel([{}], "f") == (RecordedKernel(""),)
    for key in OBJECT:
        less = {other: value for other, value in OBJECT.items() if other != key}
        assert read_in_kernel([less], "f") == read_in_kernel([OBJECT | {key: None}], "f")
    assert read_in_kernel([{"clock_ghz": 0, "ctas": {}}], "f") == (RecordedKernel(""),)


@pytest.mark.parametrize(
    ("recording", "output_format"),
    [
        ("gpt.hatchet", "hatchet"),
        ("gpt.hatchet", "hatchet_msgpack"),
        ("activity.chrome_trace", "chrome_trace"),
        ("activity.chrome_trace", "perfetto"),
    ],
)
def test_every_format_keeps_it(recording: str, output_format: str) -> None:
    profile = replace(open_profile(DATA / recording), in_kernel=(KERNEL,))
    assert read_profile(to_bytes(profile, output_format), "f").in_kernel == (KERNEL,)


@pytest.mark.parametrize(
    ("data", "output_format"),
    [
        ("tree", "hatchet"),
        ("tree", "hatchet_msgpack"),
        ("trace", "chrome_trace"),
        ("trace", "perfetto"),
    ],
)
def test_a_session_carries_it_in_its_header(
    make_session: MakeSession, data: str, output_format: str
) -> None:
    session = make_session(data=data)
    launch(session, "k")
    content = session.serialize(output_format, 0, {"in_kernel": [OBJECT]})
    assert read_profile(content, "f").in_kernel == (KERNEL,)


def changed(path: str, value: Any) -> Any:
    """[OBJECT] with the value at a dotted path replaced."""
    whole: Any = [deepcopy(OBJECT)]
    at: Any = whole
    *steps, last = ["0", *path.split(".")]
    for step in steps:
        at = at[int(step) if isinstance(at, list) else step]
    at[int(last) if isinstance(at, list) else last] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("kernel", 5, "[0].kernel must be text, not 5"),
        ("context", "a", "[0].context must be a list of texts, not 'a'"),
        ("context", [None], "[0].context must be a list of texts"),
        ("launches", -1, "[0].launches must be zero or more, not -1"),
        ("launches", 2**64, "[0].launches must be an integer, not 18446744073709551616"),
        ("recorded_warps", True, "[0].recorded_warps must be an integer, not True"),
        ("clock_ghz", "1", "[0].clock_ghz must be a number, not '1'"),
        ("clock_ghz", float("inf"), "[0].clock_ghz must be a number, not inf"),
        ("record_cycles", -0.5, "[0].record_cycles must be zero or more, not -0.5"),
        ("replays", -1, "[0].replays must be zero or more, not -1"),
        ("every", 0.5, "[0].every must be an integer, not 0.5"),
        ("regions.1.every", -4, "[0].regions[1].every must be zero or more, not -4"),
        ("regions", {}, "[0].regions must be a list of objects, not an object"),
        ("regions.1", [], "[0].regions[1] must be an object, not a list"),
        ("regions.1.name", 1, "[0].regions[1].name must be text, not 1"),
        ("regions.1.line", -4, "[0].regions[1].line must be zero or more, not -4"),
        ("regions.1.p50", float("nan"), "[0].regions[1].p50 must be a number, not nan"),
        ("regions.1.parent", 4, "[0].regions[1].parent must be one of 4 regions or -1, not 4"),
        ("regions.1.parent", -2, "[0].regions[1].parent must be one of 4 regions or -1, not -2"),
        ("regions.1.parent", 1, "[0].regions[1] lies in itself"),
        ("regions.0.parent", 1, "[0].regions[0] lies in itself"),
        ("ctas", [], "[0].ctas must be an object, not a list"),
        ("ctas.count", 1.5, "[0].ctas.count must be an integer, not 1.5"),
        ("ctas.waves", -1, "[0].ctas.waves must be zero or more, not -1"),
        ("ctas.per_sm.2", "x", "[0].ctas.per_sm[2] must be a number that is zero or more or null"),
        ("ctas.active.0", None, "[0].ctas.active[0] must be a number that is zero or more, not"),
        ("values.0", 1, "[0].values[0] must be an object, not 1"),
        ("values.0.sum", "x", "[0].values[0].sum must be a number, not 'x'"),
        ("values.0.min", float("nan"), "[0].values[0].min must be a number, not nan"),
        ("values.0.not_finite", 65, "[0].values[0].not_finite must be at most the count of 64"),
        ("heat.0.bins", "x", "[0].heat[0].bins must be a list of numbers, not 'x'"),
        ("heat.0.bins.1", -1, "[0].heat[0].bins[1] must be a number that is zero or more, not -1"),
        ("heat.0.bins.1", 1.5, "[0].heat[0].bins must be a list of counts, not a list"),
        ("heat.0.bin_bytes", 0, "[0].heat[0].bin_bytes must be one or more where there are bins"),
        ("heat.0.byte_bins", [1], "[0].heat[0].byte_bins must be a list of 4 counts, as many as"),
        ("heat.0.byte_bins.1", 1.5, "[0].heat[0].byte_bins must be a list of counts, not a list"),
        ("accesses.0.first", {}, "[0].accesses[0].first must be a list of lists, not an object"),
        ("accesses.0.first.1", [0, 1, "a"], "[0].accesses[0].first must be a list of [CTA, warp"),
        ("accesses.0.first.1.0", -1, "[0].accesses[0].first must be a list of [CTA, warp"),
        ("accesses.0.first.1.3", 0.5, "[0].accesses[0].first must be a list of [CTA, warp"),
        ("accesses.0.first_of", 1, "[0].accesses[0].first_of must be at least the 2 in first"),
        ("accesses.1", 4, "[0].accesses[1] must be an object, not 4"),
        ("accesses.1.bytes", -4, "[0].accesses[1].bytes must be zero or more, not -4"),
        ("uncovered", {"a": "x"}, "[0].uncovered must be an object of counts, not an object"),
        ("losses", {"a": -1}, "[0].losses must be an object of counts, not an object"),
        ("changed", {"a": [1]}, "[0].changed['a'] must be a list of two numbers, without records"),
        ("changed", {"a": [1, "x"]}, "[0].changed['a'] must be a list of two numbers"),
    ],
)
def test_what_is_not_as_the_format_says_is_refused_in_one_line(
    path: str, value: Any, message: str
) -> None:
    with pytest.raises(FormatError, match=re.escape(f"f: proton.in_kernel{message}")) as caught:
        read_in_kernel(changed(path, value), "f")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({}, "f: proton.in_kernel must be a list of objects, not an object"),
        ([7], "f: proton.in_kernel[0] must be an object, not 7"),
    ],
)
def test_only_a_list_of_objects_is_taken(found: object, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        read_in_kernel(found, "f")


def test_a_long_chain_of_regions_reads_in_time() -> None:
    regions = [{"name": "r", "parent": number - 1} for number in range(16_000)]
    (kernel,) = read_in_kernel([{"regions": regions}], "f")
    assert [region.parent for region in kernel.regions] == list(range(-1, 15_999))


def test_a_profile_without_it_writes_no_key() -> None:
    profile = open_profile(DATA / "gpt.hatchet")
    assert b'"in_kernel"' not in to_bytes(profile, "hatchet")
    assert Profile("f").in_kernel == ()
