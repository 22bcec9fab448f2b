"""A kernel whose statements span several lines."""

TEXT = """\
import triton.language as tl


def kernel(
    a_ptr,
    b_ptr,
):
    acc = tl.dot(
        tl.load(a_ptr),
        b_ptr,
        allow_tf32=True,
    )
    for k in tl.range(
        0,
        8,
    ):
        acc += 1
    return acc
"""
