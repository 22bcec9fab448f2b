"""What `proton-viewer` prints for the recordings in tests/data, compared with tests/golden.

`PROTON_UPDATE_GOLDEN=1 pytest tests/integration/test_viewer_golden.py` writes the files anew;
look at them before they go in.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proton.cli.viewer import main
from proton.render import nvdisasm as disassemble

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden"

# Name of the golden file -> width of the terminal, arguments.
VIEWS: dict[str, tuple[int, str]] = {
    "gpt": (120, "gpt.hatchet"),
    "gpt_columns": (120, "-m time/us,time/%,util,bound,headroom/us -d 4 gpt.hatchet"),
    "gpt_columns_80": (80, "-m time/us,time/%,util,bound,headroom/us -d 4 gpt.hatchet"),
    "gpt_color": (120, "--color always -m time/us,time/% -d 4 gpt.hatchet"),
    "gpt_color_one": (120, "--color always -i .*block_3 gpt.hatchet"),
    "gpt_sorted": (120, "-m time/us,time/%,count,util --print-sorted gpt.hatchet"),
    "gpt_autotune": (120, "--autotune -d 2 gpt.hatchet_msgpack"),
    "gpt_list": (100, "-l gpt.hatchet"),
    "gpt_rates": (120, "-m avg_time/us,tflop16/s,gbyte/s,intensity -i .*block_0 gpt.hatchet"),
    "gpt_properties": (120, "-m cpu_time/us,lr -d 2 gpt.hatchet"),
    "gpt_diff": (120, "-m time/us,count --diff-profile train -d 3 gpt.hatchet"),
    "gpt_diff_color": (120, "--color always -m time/us -diff train -d 2 gpt.hatchet"),
    "gpt_exclude": (120, "-e block_[1-5] gpt.hatchet"),
    "gpt_threshold": (120, "-m time/us -t 52.3 gpt.hatchet"),
    "training": (140, "training.hatchet"),
    "training_cpu": (100, "-m cpu_time/us,self_cpu_time/us,calls -i .*h.1 training_cpu.hatchet"),
    "training_cpu_list": (100, "-l training_cpu.hatchet"),
    "training_sorted": (110, "-m cpu_time/us,calls --print-sorted training.hatchet_msgpack"),
    "training_include": (110, "-m time/us,cpu_time/us -i transformer.h.0.mlp training.hatchet"),
    "training_exclude": (110, "-e <backward>|<recompute> -d 9 training.hatchet"),
    "training_module": (140, "--group-by module training.hatchet"),
    "training_op": (140, "--group-by op training.hatchet"),
    "training_op_cpu": (100, "--group-by op training_cpu.hatchet"),
    "training_kernel": (80, "--group-by kernel -i .*h.0.attn training.hatchet"),
    "training_line": (140, "--group-by line -f file_function_line training.hatchet"),
    "training_markdown": (100, "--group-by op --markdown training.hatchet"),
    "interpreter": (120, "interpreter.hatchet"),
    "interpreter_counted": (120, "-m time/ms,programs,counted_flops,lanes interpreter.hatchet"),
    "values": (120, "-m x,histogram,shares,label,tiny,huge values.hatchet"),
    "train": (120, "train"),
    "deep": (80, "deep.hatchet"),
    "python": (120, "-f file_function_line python.hatchet"),
    "activity_trace": (120, "activity.chrome_trace"),
    "foreign_trace": (120, "-m cpu_time/us foreign_trace.json"),
    "samples": (120, "-m num_samples,stalled_wait,stalled_long_scoreboard samples.hatchet"),
    "samples_lines": (120, "samples.hatchet"),
    "sampled": (140, "sampled.hatchet"),
    "sampled_80": (80, "sampled.hatchet"),
    "sampled_color": (140, "--color always -i forward sampled.hatchet"),
    "sampled_full": (100, "--full -i backward sampled.hatchet_msgpack"),
    "sampled_columns": (
        120,
        "-m num_samples,stalled_long_scoreboard,num_samples/% sampled.hatchet",
    ),
    "sampled_sorted": (120, "--print-sorted sampled.hatchet"),
    "sampled_list": (100, "-l sampled.hatchet"),
    "sampled_trace": (140, "sampled.chrome_trace"),
    "sampled_source": (120, "--source softmax.py sampled.hatchet"),
    "sampled_source_long": (120, "--source matmul.py sampled.hatchet"),
    "sampled_source_gone": (120, "--source removed.py sampled.hatchet"),
    "sampled_sass": (140, "--sass matmul sampled.hatchet"),
    "in_kernel": (110, "in_kernel.hatchet"),
    "in_kernel_80": (80, "in_kernel.hatchet_msgpack"),
    "in_kernel_color": (110, "--color always -i forward in_kernel.hatchet"),
    "in_kernel_columns": (110, "-m time/us,cycles,normalized_cycles in_kernel.hatchet"),
    "in_kernel_sorted": (110, "-m cycles --print-sorted in_kernel.hatchet"),
    "in_kernel_regions": (110, "--regions matmul in_kernel.hatchet"),
    "in_kernel_regions_60": (60, "--regions matmul in_kernel.hatchet"),
    "in_kernel_waves": (110, "--regions softmax in_kernel.hatchet"),
    "in_kernel_waves_color": (80, "--color always --regions softmax in_kernel.hatchet"),
    "in_kernel_trace": (110, "in_kernel.chrome_trace"),
    "triton36_samples": (120, "triton36_samples.hatchet"),
    "graph": (120, "graph.hatchet"),
    "triton36_kernels": (120, "-m time/us,util,tflop16/s,gbyte/s triton36_kernels.hatchet"),
    "triton36_kernels_80": (80, "triton36_kernels.hatchet"),
    "triton36_kernels_full": (80, "--full triton36_kernels.hatchet"),
    "triton36_python_80": (80, "-m time/us,time/% triton36_python.hatchet"),
    "triton36_python_200": (200, "-m time/us,time/% triton36_python.hatchet"),
    "triton36_graph": (120, "triton36_graph.hatchet"),
    "triton36_scopes": (120, "triton36_scopes.hatchet"),
    "triton36_trace": (120, "triton36_trace.chrome_trace"),
    "triton36_inkernel": (120, "-m cycles,normalized_cycles triton36_inkernel.hatchet"),
}


def shown(
    arguments: str, width: int, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> str:
    patch.chdir(TESTS / "data")
    patch.setenv("COLUMNS", str(width))
    patch.delenv("NO_COLOR", raising=False)
    patch.setattr(disassemble, "find_nvdisasm", lambda: None)  # which machines have or have not
    assert main(arguments.split()) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", VIEWS)
def test_the_view_is_the_golden_one(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    width, arguments = VIEWS[name]
    found = shown(arguments, width, capsys, monkeypatch)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("PROTON_UPDATE_GOLDEN"):
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_every_golden_file_of_the_viewer_has_a_view() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(VIEWS)


@pytest.mark.parametrize("recording", sorted(path.name for path in (TESTS / "data").glob("*.*")))
def test_no_view_lets_control_characters_through(
    recording: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TESTS / "data")
    main([recording])
    streams = capsys.readouterr()
    for text in (streams.out, streams.err):
        assert all(character.isprintable() or character == "\n" for character in text)
