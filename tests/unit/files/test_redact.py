"""Tests of profiles without the names of hosts, folders and commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.errors import UsageError
from proton.files.detect import open_profile
from proton.files.export import EXPORTS, export_profile
from proton.files.redact import parse_words, redact
from proton.files.source_text import TextState, read_source, withhold_sources
from proton.files.write import formats_of, to_bytes
from proton.model.frame import Frame, FrameKind
from proton.model.origins import KernelOrigins, OriginLine
from proton.model.profile import Header, Profile, TraceProfile, TreeProfile
from proton.model.ranks import Rank
from proton.model.sampling import Sampling, SourceFile, SourceLine
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import Tree

DATA = Path(__file__).parents[2] / "data"
HOST = "secret-node-9"
FOLDER = "/home/jane doe/secret project"
SECRETS = (HOST, "jane", "secret project", "--secret-token")
BOTH = frozenset({"host", "path"})


def facts(profile: Profile) -> Profile:
    """`profile` with secrets wherever a recording may have them."""
    return replace(
        profile,
        source=f"{FOLDER}/{HOST}.hatchet",
        header=Header(
            session=f"{FOLDER}/run",
            command=("python", f"{FOLDER}/train.py", "--secret-token=1"),
            host=HOST,
            proton_version="0.1.0",
        ),
        warnings=(
            f"{FOLDER}/run.partial: process 7 on {HOST} was killed",
            "/home/jane/other: no such file",
        ),
        ranks=(Rank(0, source=f"{FOLDER}/run.rank_0.hatchet", host=HOST),),
        sampling=Sampling(
            lines=(SourceLine(f"{FOLDER}/kernel.py", 3, "k", -1),),
            files={f"{FOLDER}/kernel.py": SourceFile("00", 5)},
        ),
        origins=(
            KernelOrigins(
                "k", "/cache of jane/ab/cab.py", 0, (OriginLine(f"{FOLDER}/model.py", 9, "f"),)
            ),
        ),
    )


def tree() -> Profile:
    file = f"{FOLDER}/train.py"
    frames = [
        Frame("ROOT", FrameKind.ROOT),
        Frame(f"{file}:12@step", FrameKind.PYTHON, file, 12, "step"),
        Frame(f"rank on {HOST}"),
        Frame("lambda at /home/jane/k.cu:3", FrameKind.KERNEL),
    ]
    own = [{}, {}, {}, {"time (ns)": 5, "count": 1, "a/b": 2}]
    return facts(TreeProfile("", tree=Tree(frames, [-1, 0, 1, 2], own)))


def trace() -> Profile:
    path = (f"{FOLDER}/train.py:12@step", "k")
    lane = Lane("[0, 0]", f"thread of {HOST}", LaneKind.HOST)
    span = Span("k", SpanKind.KERNEL, 0, 1.0, 2.0, path, {}, {"file": f"{FOLDER}/k.cu"})
    return facts(TraceProfile("", trace=Trace([lane], [span])))


@pytest.mark.parametrize("make", [tree, trace])
def test_no_byte_of_them_is_in_any_format(make: type[Profile]) -> None:
    profile = redact(make(), BOTH)  # type: ignore[call-arg]
    contents = {name: to_bytes(profile, name) for name in formats_of(profile)}
    for name, known in EXPORTS.items():
        if name != "parquet" and (isinstance(profile, TreeProfile) or known.holds_traces):
            contents[name] = export_profile(profile, name).content
    contents["itself"] = repr(profile).encode()
    for name, content in contents.items():
        for secret in SECRETS:
            assert secret.encode() not in content, (name, secret)


def test_names_of_files_and_everything_else_stay() -> None:
    profile = redact(tree(), BOTH)
    assert isinstance(profile, TreeProfile)
    assert [frame.name for frame in profile.tree.frames] == [
        "ROOT",
        "train.py:12@step",
        "rank on host",
        "lambda at k.cu:3",
    ]
    assert profile.tree.own[3] == {"time (ns)": 5, "count": 1, "a/b": 2}
    assert profile.source == "…/host.hatchet"
    assert profile.warnings == (
        "run.partial: process 7 on host was killed",
        "other: no such file",
        "left out on request: host, path",
    )
    assert (profile.header.host, profile.header.command, profile.header.session) == ("", (), "run")
    assert profile.sampling is not None
    assert (*profile.sampling.files,) == ("kernel.py",)


def test_each_word_leaves_out_its_own() -> None:
    text = repr(redact(tree(), frozenset({"host"})))
    assert HOST not in text
    assert FOLDER in text
    text = repr(redact(tree(), frozenset({"path"})))
    assert HOST in text
    assert "jane" not in text
    profile = tree()
    assert redact(profile, frozenset()) is profile


@pytest.mark.parametrize(
    "path", sorted(path for path in DATA.iterdir() if path.suffix in (".hatchet", ".chrome_trace"))
)
def test_numbers_of_recordings_are_untouched(path: Path) -> None:
    profile = open_profile(path)
    again = redact(profile, frozenset({"host", "path", "source"}))
    if isinstance(profile, TreeProfile):
        assert isinstance(again, TreeProfile)
        assert again.tree.parents == profile.tree.parents
        assert [*again.tree.own] == [*profile.tree.own]
        assert again.tree.details == profile.tree.details
    else:
        assert isinstance(profile, TraceProfile)
        assert isinstance(again, TraceProfile)
        spans = zip(again.trace.spans, profile.trace.spans, strict=True)
        assert all(new[2:5] == old[2:5] for new, old in spans)
    for name in formats_of(again):
        assert to_bytes(again, name)


def test_words_are_read() -> None:
    assert parse_words("host, path") == {"host", "path"}
    with pytest.raises(UsageError, match=r"unknown thing to leave out: 'pth'.*did you mean 'path'"):
        parse_words("host,pth")


def test_no_source_is_read_while_sources_are_withheld(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("secret = 1\n")
    with withhold_sources():
        assert read_source(str(path), None) == (TextState.GONE, (), "left out on request")
    assert read_source(str(path), None).lines == ("secret = 1",)
