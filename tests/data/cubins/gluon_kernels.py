"""A kernel in Gluon, which has layouts and barriers in its own hands."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def scaled(values, factor):
    return values * factor


@gluon.jit
def scale(x, out, factor, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(out + offsets, scaled(gl.load(x + offsets), factor))


# At the end, because lines count.
# mypy: disable-error-code="no-untyped-def"
