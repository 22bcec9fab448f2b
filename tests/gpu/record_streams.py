"""Records what CUPTI tells Proton on this machine, one recording for each kind of work.

    python tests/gpu/record_streams.py FOLDER [NAME ...]

Writes to FOLDER, for each: NAME.rec.gz, the recording (tests/native/recorder), and NAME.json: the
profiles that Proton wrote in that run, kernel counts by torch.profiler from a second run of the
same work in the same process, and what it was taken with. Needs a GPU, torch, Triton, a C++
compiler and Proton installed; transformers for GPT-2. tests/data/streams holds the results.
"""

from __future__ import annotations

import faulthandler
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.gpu.stream_work import WORK, Work  # noqa: E402
from tests.native.recorder.library import build_recorder, open_recorder  # noqa: E402
from tests.native.recorder.notes import Audience, Stage  # noqa: E402
from tests.native.recorder.truth import count_names, losses_of, profiles_of  # noqa: E402

LIMIT_S = 60  # for each process; they run side by side
AT_ONCE = 4


def main(arguments: list[str]) -> int:
    """Record everything, each in a process of its own; 1 if something could not be recorded."""
    if arguments[:1] == ["--one"]:
        faulthandler.dump_traceback_later(LIMIT_S - 10, exit=True)
        record(arguments[1], Path(arguments[2]))
        # all is written; ending torch's profiler at exit may wait for ever
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    if not arguments:
        print(__doc__)
        return 2
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    cupti = find_cupti()
    recorder = build_recorder(cupti)
    print(f"recording {cupti} through {recorder}", flush=True)
    names = arguments[1:] or list(WORK)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(lambda name: record_in_process(name, folder, recorder), names))
    failed = [name for name, is_done in zip(names, done, strict=True) if not is_done]
    total = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{total} bytes in {folder}; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def find_cupti() -> Path:
    """The libcupti that Proton would open beside torch."""
    code = (
        "import os, torch\n"
        "from proton.backends.cupti.candidates import chosen_of, find_candidates\n"
        "from proton.backends.common.knobs import Knobs\n"
        "knobs = Knobs(cupti_lib_dir=os.environ.get('TRITON_CUPTI_LIB_PATH'))\n"
        "print(chosen_of(find_candidates(knobs)).path)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=LIMIT_S
    )
    return Path(done.stdout.strip()).resolve()


def record_in_process(name: str, folder: Path, recorder: Path) -> bool:
    """Have a process of its own record one kind of work."""
    environment = {
        **os.environ,
        "TRITON_CUPTI_LIB_PATH": str(recorder),
        "PROTON_RECORDER_FILE": str(folder / f"{name}.rec"),
        "TRITON_PROFILE_BUFFER_SIZE": str(256 << 10),  # several, that CUPTI's own thread delivers
        "TOKENIZERS_PARALLELISM": "false",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no processes of its own
    }
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name, str(folder)],
            env=environment,
            timeout=LIMIT_S,
            check=False,
        )
        problem = f"exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"not done after {LIMIT_S} s"
    pack(name, folder)  # of a failed run too: it shows how far it came
    if not problem:
        report(name, folder)
    print(f"{name}: {problem or 'ok'} in {time.monotonic() - start:.1f} s", flush=True)
    return not problem


def pack(name: str, folder: Path) -> None:
    """Compress a recording, if that was not done."""
    raw = folder / f"{name}.rec"
    if raw.exists():
        (folder / f"{name}.rec.gz").write_bytes(gzip.compress(raw.read_bytes(), 9, mtime=0))
        raw.unlink()


def report(name: str, folder: Path) -> None:
    """One line on a recording: sizes, and whether both profilers agree."""
    truth = json.loads((folder / f"{name}.json").read_text())
    size = (folder / f"{name}.rec.gz").stat().st_size
    kernels = sum(truth["torch"].values()) if truth["torch"] else None
    print(f"{name}: {size} bytes, {kernels} kernels by torch, difference {truth['difference']}")


def record(name: str, folder: Path) -> None:
    """Record one kind of work in this process, then let torch.profiler see it too."""
    import torch

    recorder = open_recorder(Path(os.environ["TRITON_CUPTI_LIB_PATH"]))
    torch.zeros(1, device="cuda")
    work = WORK[name](torch)
    torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as written:
        here = os.getcwd()
        os.chdir(written)
        work.run(Stage(lambda text: recorder.recorder_note(text.encode())))
        recorder.recorder_finish()
        os.chdir(here)
        pack(name, folder)
        truth: dict[str, Any] = {
            "profiles": profiles_of(Path(written)),
            "losses": losses_of(Path(written)),
            "torch": None,
            "difference": None,
            "machine": machine(torch),
        }
    file = folder / f"{name}.json"
    file.write_text(json.dumps(truth, indent=0) + "\n")
    if work.is_comparable:
        compare(torch, work, truth)
        file.write_text(json.dumps(truth, indent=0) + "\n")


def machine(torch: Any) -> dict[str, str]:
    """What the recording was taken with."""
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": sys.version.split()[0],
    }


def compare(torch: Any, work: Work, truth: dict[str, Any]) -> None:
    """Add torch.profiler's counts by demangled name, and where Proton's differ."""
    try:
        counts = count_by_torch(torch, lambda: work.run(Audience()))
    except Exception as error:
        traceback.print_exc()
        truth["difference"] = f"torch.profiler failed: {error}"
        return
    own = count_names(truth["profiles"].values())
    truth["demangled"] = {name: torch._C._demangle(name) for name in own}
    ours: Counter[str] = Counter()
    for name, count in own.items():
        if not name.startswith("<"):  # copies and graphs are not kernels
            ours[truth["demangled"][name]] += count
    truth["torch"] = counts
    names = sorted({*ours, *counts})
    truth["difference"] = {n: [ours[n], counts[n]] for n in names if ours[n] != counts[n]}


def count_by_torch(torch: Any, run: Callable[[], object]) -> Counter[str]:
    """Demangled kernel name -> runs, as torch.profiler tells."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        profiler.export_chrome_trace(f"{folder}/torch.json")
        events = json.loads(Path(folder, "torch.json").read_text())["traceEvents"]
    kernels = [event["name"] for event in events if event.get("cat") == "kernel"]
    return Counter(torch._C._demangle(name) for name in kernels)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
