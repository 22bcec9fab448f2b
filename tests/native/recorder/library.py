"""Builds the recorder, for one libcupti, and the player; opens them from Python."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.native.fake_cuda.driver import find_compiler

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PLAYER = HERE.parent / "player"
CACHE = ROOT / "build" / "recorder"
_FLAGS = ("-std=c++20", "-O2", "-g1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_INCLUDES = (f"-I{ROOT / 'src' / 'native'}", f"-I{HERE.parent}", f"-I{HERE}", f"-I{PLAYER}")


def build_recorder(cupti: Path) -> Path:
    """The library that stands before `cupti` and writes down what it says.

    Raises:
        FileNotFoundError: there is no C++ compiler.
        subprocess.CalledProcessError: it does not compile; the text is on stderr.
    """
    define = f'-DRECORDER_CUPTI="{cupti}"'
    # linked with it, so that functions which the recorder does not know are found in it
    link = ("-Wl,--no-as-needed", str(cupti), f"-Wl,-rpath,{cupti.parent}", "-ldl")
    return _build("recorder", [HERE / "recorder.cpp"], [define], link)


def build_player() -> Path:
    """The library that plays recordings; raises as `build_recorder` does."""
    return _build("player", sorted(PLAYER.glob("*.cpp")))


def open_recorder(path: Path) -> ctypes.CDLL:
    """The recorder's `recorder_note` and `recorder_finish`."""
    library = ctypes.CDLL(str(path))
    library.recorder_note.argtypes = [ctypes.c_char_p]
    library.recorder_note.restype = library.recorder_finish.restype = None
    return library


def open_player(path: Path) -> ctypes.CDLL:
    """The player's control side, as player.h and play.cpp have it."""
    library = ctypes.CDLL(str(path))
    text, number = ctypes.c_char_p, ctypes.c_uint64
    library.player_load.argtypes, library.player_load.restype = [text, number], text
    library.player_step_count.restype = number
    library.player_step.argtypes = [number, ctypes.POINTER(text)]
    for name in ("player_run", "player_run_natively", "player_begin"):
        function = getattr(library, name)
        function.argtypes, function.restype = [number], None
    library.player_set_option.argtypes = [text, ctypes.c_int64]
    library.player_counter.argtypes, library.player_counter.restype = [text], ctypes.c_int64
    return library


def _build(
    name: str, sources: Sequence[Path], more: Sequence[str] = (), link: Sequence[str] = ()
) -> Path:
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (c++, g++ or clang++, or name one in CXX)")
    abi = ROOT / "src" / "native" / "backends" / "cupti" / "driver" / "abi.h"
    headers = [*HERE.glob("*.h"), *PLAYER.glob("*.h"), abi]
    content = b"".join(path.read_bytes() for path in (*sources, *sorted(headers)))
    key = repr((compiler, _FLAGS, tuple(more), tuple(link))).encode()
    folder = CACHE / hashlib.sha256(content + key).hexdigest()[:16]
    library = folder / f"libproton_{name}.so"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            partial = folder / "partial.so"
            command = [compiler, *_FLAGS, *_INCLUDES, *more, "-o", str(partial)]
            command += [*map(str, sources), *link]
            subprocess.run(command, check=True, timeout=300)
            shutil.move(partial, library)
    return library
