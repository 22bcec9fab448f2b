"""Worker threads: each has scopes of its own, and a pool without scopes follows the main thread.

Run it, then look: proton-viewer -m time/ms,rows threads.hatchet
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import triton
import triton.language as tl

import proton

BLOCK = 128


@triton.jit
def add_kernel(left, right, result, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    total = tl.load(left + offsets, mask=mask) + tl.load(right + offsets, mask=mask)
    tl.store(result + offsets, total, mask=mask)


def add(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    result = np.empty_like(left)
    add_kernel[(triton.cdiv(left.size, BLOCK),)](left, right, result, left.size, BLOCK=BLOCK)
    return result


def load_shard(shard: int) -> None:
    """A thread that opens scopes: its work is under `loader`, whatever the main thread does."""
    with proton.scope("loader"):
        for _ in range(2):
            with proton.scope(f"shard_{shard}", metrics={"rows": 256}):
                add(np.ones(256, np.float32), np.ones(256, np.float32))


def helper(size: int) -> float:
    """Runs in a long-lived pool and opens no scope: its work belongs to the step under way."""
    return float(add(np.ones(size, np.float32), np.ones(size, np.float32)).sum())


def main() -> None:
    loaders = [threading.Thread(target=load_shard, args=(shard,)) for shard in range(2)]
    for loader in loaders:
        loader.start()
    with ThreadPoolExecutor(max_workers=1) as pool:  # one thread for all three steps
        for step in range(3):
            with proton.cpu_timed_scope(f"step_{step}"):
                assert pool.submit(helper, 300).result() == 600.0
    for loader in loaders:
        loader.join()


if __name__ == "__main__":
    proton.start("threads", backend="interpreter")
    main()
    proton.finalize()
