"""Where the cycles of a softmax go: regions inside a kernel, named in its source.

Run it on a machine with an NVIDIA GPU and torch, then look at what each region took, per warp:
`proton-viewer in_kernel_softmax.hatchet`, or all of it with `--regions softmax_kernel`.
Without a GPU the kernel runs in the interpreter, which counts what it loads and stores; regions
have no cycles there and are not recorded. The example says which of the two it did.
"""

import os
from typing import Any

import numpy as np
import triton
import triton.language as tl

import proton
import proton.language as pl

ROWS, COLUMNS = 512, 1000


@triton.jit
def softmax_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < columns
    row = tl.program_id(0) * columns
    with pl.scope("load"):
        x = tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
        largest = tl.max(x, axis=0)  # needs x: without a use here the load would end later
    with pl.scope("exponents"):
        x = tl.exp(x - largest)
        total = tl.sum(x, axis=0)
    with pl.scope("store"):
        tl.store(y_ptr + row + at, x / total, mask=mask)


def main(to_device: Any, to_host: Any) -> None:
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    given, result = to_device(x), to_device(np.empty_like(x))
    for step in range(3):
        with proton.scope(f"step_{step}"):
            softmax_kernel[(ROWS,)](given, result, COLUMNS, BLOCK=1024)
    exponents = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(to_host(result), exponents / exponents.sum(1, keepdims=True), atol=1e-6)


if __name__ == "__main__":
    if os.path.exists("/dev/nvidia0"):
        import torch

        proton.start("in_kernel_softmax", backend="instrumentation")
        main(lambda array: torch.tensor(array, device="cuda"), lambda tensor: tensor.cpu().numpy())
        said = "recorded the regions load, exponents and store in every warp"
    else:
        proton.start("in_kernel_softmax", backend="interpreter")
        main(lambda array: array, lambda array: array)
        said = "no GPU: ran the kernel in the interpreter, which records no regions"
    proton.finalize()
    print(f"{said}; see `proton-viewer in_kernel_softmax.hatchet`")
