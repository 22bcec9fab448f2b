"""Requests served by asyncio tasks: they interleave, and each keeps the scopes it opened.

Run it, then look: proton-viewer -m time/ms,tokens asyncio_requests.hatchet
"""

import asyncio

import numpy as np
import triton
import triton.language as tl

import proton

BLOCK = 128


@triton.jit
def scale_kernel(values, result, factor, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    tl.store(result + offsets, tl.load(values + offsets, mask=mask) * factor, mask=mask)


def scale(values: np.ndarray, factor: float) -> np.ndarray:
    result = np.empty_like(values)
    grid = (triton.cdiv(values.size, BLOCK),)
    scale_kernel[grid](values, result, factor, values.size, BLOCK=BLOCK)
    return result


async def embed(tokens: np.ndarray) -> np.ndarray:
    with proton.scope("embed"):
        await asyncio.sleep(0)  # another request runs here, inside scopes of its own
        return scale(tokens, 0.5)


async def decode(state: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        with proton.scope("decode", metrics={"tokens": 1}):
            state = scale(state, 2.0)
        await asyncio.sleep(0)
    return state


async def serve(model: str, length: int, steps: int) -> np.ndarray:
    with proton.scope(f"{model}_{length}"):
        state = await embed(np.ones(length, dtype=np.float32))
        return await decode(state, steps)


async def main() -> None:
    requests = [("small", 200, 2), ("large", 900, 3), ("small", 200, 1)]
    answers = await asyncio.gather(*(serve(*request) for request in requests))
    assert [float(answer[0]) for answer in answers] == [2.0, 4.0, 1.0]


if __name__ == "__main__":
    proton.start("asyncio_requests", backend="interpreter")
    asyncio.run(main())
    proton.finalize()
