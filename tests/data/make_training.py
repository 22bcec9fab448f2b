"""Make the recordings of a training step with operators: `python -m tests.data.make_training`.

A GPT of two blocks as a session with `context="ops"` writes it: modules, lines of the program,
operators, and backward work below its forward path. The second block is recomputed. The numbers are
invented, plausible for an H200, and the same at every run; nothing of Proton is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack

from tests.data.make_recordings import DEVICES, compact, kernel, node

HERE = Path(__file__).parent
STEPS = 4
START_NS = 1_763_000_000_000_000_000
Node = dict[str, Any]
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>"


def of_kind(kind: str, name: str, *children: Node, **metrics: int) -> Node:
    named = {key.replace("_ns", " (ns)"): value for key, value in metrics.items()}
    return dict(node(name, named, *children)) | {"kind": kind}


def module(name: str, *children: Node) -> Node:
    return of_kind("m", name, *children)


def line(number: int, function: str, *children: Node, file: str = "model.py") -> Node:
    return of_kind("p", f"/home/user/gpt/{file}:{number}@{function}", *children)


def op(name: str, cpu_ns: int, *children: Node, calls: int = 1) -> Node:
    """An operator; `cpu_ns` includes the operators inside of it, not its backward."""
    calls *= STEPS
    return of_kind("o", name, *children, cpu_time_ns=cpu_ns * calls, calls=calls)


def run(name: str, time_ns: int, count: int = 1, **work: float) -> Node:
    count *= STEPS
    kind = "c" if name.startswith("Memcpy") else "k"
    return dict(kernel(name, time_ns * count, count, **work)) | {"kind": kind}


def backward(*children: Node) -> Node:
    return of_kind("b", "<backward>", *children)


def embedding(name: str) -> Node:
    grad = op("aten::embedding_dense_backward", 21_000, run("embedding_backward_kernel", 33_400))
    return module(
        name,
        op("aten::embedding", 14_200,
           op("aten::index_select", 9_100, run("indexSelectLargeIndex", 11_900)),
           backward(op("EmbeddingBackward0", 30_500, grad))),
    )  # fmt: skip


def layer_norm(name: str) -> Node:
    inner = op(
        "aten::native_layer_norm",
        15_300,
        run("vectorized_layer_norm_kernel", 6_120, bytes=12_582_912.0),
        backward(
            op("NativeLayerNormBackward0", 41_000,
               op("aten::native_layer_norm_backward", 33_000,
                  run("layer_norm_grad_input_kernel", 9_480), run("GammaBetaBackward", 7_730))),
        ),
    )  # fmt: skip
    return module(name, op("aten::layer_norm", 19_900, inner))


def linear(name: str, time_ns: int) -> Node:
    product = op(
        "aten::addmm",
        17_600,
        run(GEMM, time_ns, flops16=time_ns * 4.9e5, bytes=time_ns * 900.0),
        backward(
            op("AddmmBackward0", 62_000,
               op("aten::mm", 18_200, run(GEMM, time_ns, 2, flops16=time_ns * 9.8e5), calls=2),
               op("aten::sum", 13_000, run(REDUCE, 4_900))),
        ),
    )  # fmt: skip
    return module(name, op("aten::linear", 24_400, op("aten::t", 3_100), product))


def attention(name: str) -> Node:
    flash = op(
        "aten::_scaled_dot_product_flash_attention",
        31_500,
        run("flash_fwd_kernel", 41_300, flops16=1.4e10),
        backward(
            op("ScaledDotProductFlashAttentionBackward0", 55_000,
               run("flash_bwd_dot_do_o_kernel", 5_200), run("flash_bwd_kernel", 104_800)),
        ),
    )  # fmt: skip
    return module(
        name,
        line(40, "forward", linear(f"{name}.c_attn", 52_300)),
        line(44, "forward", op("aten::scaled_dot_product_attention", 37_800, flash)),
        line(45, "forward", linear(f"{name}.c_proj", 21_400)),
    )


def mlp(name: str) -> Node:
    gelu = op(
        "aten::gelu",
        9_700,
        run(ELEMENTWISE.format("GeluCUDAKernelImpl"), 10_900),
        backward(op("GeluBackward0", 22_000, op("aten::gelu_backward", 14_000,
                    run(ELEMENTWISE.format("GeluBackwardCUDAKernelImpl"), 14_600)))),
    )  # fmt: skip
    return module(
        name,
        line(52, "forward", linear(f"{name}.c_fc", 69_800)),
        line(53, "forward", gelu),
        line(54, "forward", linear(f"{name}.c_proj", 68_900)),
    )


def block(number: int) -> Node:
    name = f"transformer.h.{number}"
    return module(
        name,
        line(61, "forward", layer_norm(f"{name}.ln_1"), attention(f"{name}.attn")),
        line(62, "forward", layer_norm(f"{name}.ln_2"), mlp(f"{name}.mlp")),
    )


def without_backward(part: Node) -> Node:
    """The same work again, as checkpointing does it: nothing hangs below it but itself."""
    children = [without_backward(each) for each in part["children"] if each["kind"] != "b"]
    return part | {"children": children}


def step() -> Node:
    checkpointed = block(1)
    again = of_kind("b", "<recompute>", *without_backward(block(1))["children"])
    checkpointed["children"].append(again)
    loss = op(
        "aten::cross_entropy_loss",
        29_000,
        op("aten::log_softmax", 12_000, run("cunn_SoftMaxForward", 31_200)),
        op("aten::nll_loss_nd", 11_500,
           op("aten::nll_loss", 8_800, run("nll_loss_forward", 3_300))),
    )  # fmt: skip
    copy = op("aten::copy_", 40_300, run("Memcpy HtoD (Pageable -> Device)", 18_700))
    adam = op("aten::_fused_adamw_", 96_000, run("multi_tensor_apply_kernel", 61_100, 3))
    return line(
        41, "main",
        line(29, "step", op("aten::to", 52_000, op("aten::_to_copy", 48_100, copy)),
             file="train.py"),
        line(30, "step", module(
            "GPT",
            line(88, "forward", embedding("transformer.wte"), embedding("transformer.wpe")),
            line(90, "forward", block(0), checkpointed),
            line(92, "forward", layer_norm("transformer.ln_f")),
            line(93, "forward", linear("lm_head", 141_000)),
        ), file="train.py"),
        line(31, "step", loss, file="train.py"),
        line(33, "step", adam, file="train.py"),
        file="train.py",
    )  # fmt: skip


def kinds_of(part: Node) -> Iterator[str]:
    yield part.pop("kind")
    for child in part["children"]:
        yield from kinds_of(child)


def recording(program: Node, devices: Node, **more: object) -> Any:
    root = of_kind("r", "ROOT", program, time_ns=0, count=0) if devices else of_kind(
        "r", "ROOT", program
    )  # fmt: skip
    kinds = "".join(kinds_of(root))
    root["proton"] = {
        "format": 1, "version": "0.1.0", "session": "training", "context": "ops",
        "framework_context": {"tier": "ops", "torch": "2.13.0", "since_ns": START_NS + 200_000_000},
        "data": "tree", "mode": "", "phase": 0, "phases": [0], "command": ["python", "train.py"],
        "host": "node-7", "pid": 4242, "python": "3.12.3", "triton": None,
        "start_time_ns": START_NS, "end_time_ns": START_NS + 1_071_300_000,
        "losses": {}, "warnings": [], "autotune": [],
        "metric_kinds": {"cpu_time (ns)": "exclusive", "calls": "exclusive"},
        "kinds": kinds,
    } | more  # fmt: skip
    return [root, devices]


def on_cpu(part: Node) -> Node:
    """The same program where there is no GPU: no kernels, and operators do the work."""
    children = [on_cpu(each) for each in part["children"] if each["kind"] not in "kc"]
    return part | {"children": children}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    gpu = recording(step(), DEVICES, backends=["cupti"])
    cpu = recording(on_cpu(step()), {}, backends=[])
    (folder / "training.hatchet").write_bytes(compact(gpu))
    (folder / "training.hatchet_msgpack").write_bytes(msgpack.packb(gpu))
    (folder / "training_cpu.hatchet").write_bytes(compact(cpu))


if __name__ == "__main__":
    main()
