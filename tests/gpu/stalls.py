"""Run by tests under Nsight Compute and under Proton: one kernel again and again, by its name.

`python stalls.py memory|barrier COUNT`. "memory" waits for loads, "barrier" has one warp of each
block work while the others wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

KERNELS = {"memory": "gather", "barrier": "wait_for_one"}
BARRIER = """
extern "C" __global__ void wait_for_one(float* out, int rounds, int work) {
  float x = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      for (int step = 0; step < work; ++step) x = x * 1.0001f + 0.5f;
    }
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""


def memory() -> Callable[[], object]:
    import sampled_kernels  # type: ignore[import-not-found, unused-ignore]
    import torch

    x = torch.ones(1 << 28, device="cuda")
    y = torch.zeros(1 << 22, device="cuda")
    programs, block = 2048, 1024
    stride = programs * block
    steps = x.numel() // stride
    return lambda: sampled_kernels.gather[(programs,)](x, y, steps, stride, BLOCK=block)


def barrier() -> Callable[[], object]:
    import cupy  # type: ignore[import-not-found, unused-ignore]

    kernel = cupy.RawKernel(BARRIER, "wait_for_one", options=("-lineinfo",))
    out = cupy.zeros(1 << 20, dtype=cupy.float32)
    return lambda: kernel((1056,), (256,), (out, cupy.int32(200), cupy.int32(200)))


def main(kind: str, count: int) -> None:
    launch = {"memory": memory, "barrier": barrier}[kind]()
    for _ in range(count):
        launch()
    if kind == "memory":
        import torch

        torch.cuda.synchronize()
    else:
        import cupy

        cupy.cuda.Device().synchronize()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
