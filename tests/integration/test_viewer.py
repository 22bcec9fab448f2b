"""`proton-viewer` as a process: pipes, terminals, encodings, big and deep and hostile profiles."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
DATA = Path(__file__).resolve().parents[1] / "data"
COMMAND = [sys.executable, "-m", "proton.viewer"]


def environment(**settings: str) -> dict[str, str]:
    names = ("PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "PYTHONPATH": str(SOURCE), **settings}


def view(*arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment(**settings),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def node(name: str, metrics: dict[str, Any], *children: Any) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}


def kernel(name: str, time_ns: int) -> dict[str, Any]:
    labels = {"device_id": "0", "device_type": "CUDA"}
    return node(name, {"time (ns)": time_ns, "count": 1, **labels})


def write(path: Path, *children: Any) -> Path:
    root = node("ROOT", {"time (ns)": 0, "count": 0}, *children)
    path.write_text(json.dumps([root, {}]))
    return path


def test_a_reader_that_has_seen_enough_gets_no_complaint(tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", *(kernel(f"kernel_{i}", i) for i in range(20_000)))
    with subprocess.Popen(
        [*COMMAND, str(path)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_full_disk_is_an_error_of_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, str(DATA / "gpt.hatchet")],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "proton-viewer: output: no space left on device\n"


def test_a_terminal_gets_colours_and_lines_of_its_width(tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", kernel("long_kernel_name_" * 20, 5))
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, str(path)],
        env=environment(TERM="xterm", COLUMNS="70"),
        stdout=follower,
        stderr=follower,
        stdin=follower,
    ) as process:
        process.wait(timeout=60)
        os.close(follower)
        output = os.read(leader, 100_000).decode()
        os.close(leader)
    assert "\x1b[1;33m" in output
    assert "…" in output


def test_no_color_is_obeyed_and_a_pipe_has_no_escapes() -> None:
    assert "\x1b" not in view(DATA / "gpt.hatchet").stdout
    assert "\x1b" in view("--color", "always", DATA / "gpt.hatchet").stdout


def test_a_cut_name_fits_where_there_is_no_ellipsis(tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", kernel("k" * 99, 5))
    done = view(path, PYTHONIOENCODING="ascii", COLUMNS="40")
    name = done.stdout.splitlines()[-1].split()[-1]
    assert name.strip("k") == "*"
    assert max(map(len, done.stdout.splitlines()[1:])) == 40


def test_an_encoding_without_box_characters_gets_ascii() -> None:
    done = view(DATA / "triton36_scopes.hatchet", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "|- " in done.stdout
    assert "gr\\xf6\\xdfe" in done.stdout


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    names = ["\x1b[2J\x1b]0;title\x07", "a\nb\r", "\u202egpj.exe", "\x9b31m", "\u2066"]
    path = write(tmp_path / "run.hatchet", *(kernel(name, 5) for name in names))
    for arguments in ([], ["--print-sorted"], ["-m", "time/us,count"], ["--full"]):
        done = view(*arguments, path)
        assert done.returncode == 0, done.stderr
        assert all(c.isprintable() or c == "\n" for c in done.stdout)


def test_hostile_metric_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", node("a", {"x\x1b[2J (\x07)": 1}))
    for arguments in ([], ["-l"], ["-m", "nope"], ["--print-sorted"]):
        done = view(*arguments, path)
        text = done.stdout + done.stderr
        assert all(c.isprintable() or c == "\n" for c in text)


def deep_file(path: Path, levels: int) -> Path:
    """Written by hand: the encoder of json does not go that deep."""
    start = '{"frame":{"name":"f","type":"function"},"metrics":{},"children":['
    leaf = json.dumps(kernel("leaf", 7))
    root = '{"frame":{"name":"ROOT","type":"function"},"metrics":{"time (ns)":0},"children":['
    path.write_text(f"[{root}{start * levels}{leaf}{']}' * levels}]}},{{}}]")
    return path


@pytest.mark.parametrize(
    "arguments", [[], ["-i", "leaf"], ["-m", "time/ns,time/%"], ["--print-sorted"], ["-t", "1"]]
)
def test_ten_thousand_levels_are_shown(tmp_path: Path, arguments: list[str]) -> None:
    path = deep_file(tmp_path / "deep.hatchet", 10_000)
    done = view(*arguments, path)
    assert done.returncode == 0, done.stderr
    assert "leaf" in done.stdout
    assert len(done.stdout) < 5_000_000


def test_ten_thousand_levels_are_compared(tmp_path: Path) -> None:
    path = deep_file(tmp_path / "deep.hatchet", 10_000)
    done = view("-m", "time/ns", "-diff", path, path)
    assert done.returncode == 0, done.stderr
    assert "+0 ROOT" in done.stdout


def test_fifty_thousand_scopes_open_and_print_in_seconds(tmp_path: Path) -> None:
    scopes = [node(f"scope_{i}", {}, kernel(f"kernel_{i % 50}", i + 1)) for i in range(50_000)]
    path = write(tmp_path / "big.hatchet", *scopes)
    for arguments in ([], ["-i", ".*_1.*"]):
        start = time.monotonic()
        done = view("-m", "time/ms", *arguments, path)
        assert done.returncode == 0, done.stderr
        assert time.monotonic() - start < 30  # the real figure: benchmarks/viewer_load.py


def test_the_viewer_loads_only_what_it_uses() -> None:
    code = """
import sys
from proton.cli.viewer import main
main([sys.argv[1]])
heavy = {"triton", "torch", "pandas", "hatchet", "rich", "numpy"}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(DATA / "triton36_kernels.hatchet")],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    # Without the core a line on C++ symbols stands before it.
    assert done.stderr.splitlines()[-1] == "[]"
