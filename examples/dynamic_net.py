"""A network whose depth changes at every step, profiled by Python call path, with torch tensors.

Every kernel appears below the lines that led to it. Needs torch, no GPU.
Run it, then look: proton-viewer -m time/ms -f file_function_line dynamic_net.hatchet
"""

import random

import torch
import triton
import triton.language as tl

import proton

BLOCK = 256


@triton.jit
def relu_kernel(values, result, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    tl.store(result + offsets, tl.maximum(tl.load(values + offsets, mask=mask), 0.0), mask=mask)


@triton.jit
def relu_backward_kernel(values, upstream, result, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    passes = tl.load(values + offsets, mask=mask) > 0.0
    gradient = tl.where(passes, tl.load(upstream + offsets, mask=mask), 0.0)
    tl.store(result + offsets, gradient, mask=mask)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        ctx.save_for_backward(values)
        size, result = values.numel(), torch.empty_like(values)
        relu_kernel[(triton.cdiv(size, BLOCK),)](values, result, size, BLOCK)
        return result

    @staticmethod
    def backward(ctx, upstream):
        (values,) = ctx.saved_tensors
        size, result, upstream = values.numel(), torch.empty_like(values), upstream.contiguous()
        relu_backward_kernel[(triton.cdiv(size, BLOCK),)](values, upstream, result, size, BLOCK)
        return result


class DynamicNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(16, 32), torch.nn.Linear(32, 1)
        self.middle = torch.nn.Linear(32, 32)

    def forward(self, inputs, depth):
        hidden = Relu.apply(self.first(inputs))
        for _ in range(depth):
            hidden = Relu.apply(self.middle(hidden))
        return self.last(hidden)


def train(steps: int) -> None:
    chance = random.Random(0)
    net, inputs, targets = DynamicNet(), torch.randn(32, 16), torch.randn(32, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        depth = chance.randint(0, 2)
        with proton.scope("forward", metrics={"layers": depth + 2}):
            loss = torch.nn.functional.mse_loss(net(inputs, depth), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    proton.start("dynamic_net", backend="interpreter", context="python")
    train(steps=3)
    proton.finalize()
