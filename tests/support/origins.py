"""A profile with kernels of torch.compile, for tests of the views that show their lines."""

from __future__ import annotations

from dataclasses import replace

from proton.model.frame import Frame, FrameKind
from proton.model.origins import KernelOrigins, OriginLine
from proton.model.profile import TreeProfile
from tests.support.profiles import Row, profile_of

HASH = "cab" + "z" * 49
WRAPPER = f"/cache/ab/{HASH}.py"
OTHER = f"/cache/ab/{HASH.replace('z', 'y')}.py"
FUSED, EQUAL, ALONE = "triton_poi_fused_mul_relu_0", "triton_red_fused_sum_1", "gemm"
RELU = OriginLine("/home/me/model.py", 12, "forward", ("aten.relu",), ("relu",))
MUL = OriginLine("/home/me/model.py", 13, "forward", ("aten.mul",), ("mul_1",), is_backward=True)
SUM = OriginLine("/home/me/loss.py", 3, "loss", ("aten.sum",), ("sum_1",))

ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, FUSED, {"time (ns)": 600, "count": 2}),
    (1, f"{WRAPPER}:90@call", {}),
    (2, EQUAL, {"time (ns)": 300, "count": 1}),
    (2, ALONE, {"time (ns)": 500, "count": 1}),
    (1, EQUAL, {"time (ns)": 100, "count": 1}),
    (1, "elsewhere", {"time (ns)": 500, "count": 1}),
]
ORIGINS = (
    KernelOrigins(FUSED, WRAPPER, 0, (RELU, MUL)),
    KernelOrigins(EQUAL, WRAPPER, 0, (SUM,)),
    KernelOrigins(EQUAL, OTHER, 0, (RELU,), is_partial=True),
    KernelOrigins("extern_kernels.mm", WRAPPER, 90, (MUL,)),
)


def compiled_profile() -> TreeProfile:
    """Kernels of two graphs with one name: below a generated file, and below none."""
    profile = profile_of(ROWS)
    frames = list(profile.tree.frames)
    frames[2] = Frame(f"{WRAPPER}:90@call", FrameKind.PYTHON, WRAPPER, 90, "call")
    return replace(profile, tree=replace(profile.tree, frames=frames), origins=ORIGINS)
