"""What generated files say of their launches, by comments and by the lines that caches keep."""

from __future__ import annotations

from proton.model.origins import OriginLine
from proton.runtime.origins.wrapper_text import Launch, launches_in, read_wrapper

# As inductor of torch 2.13 writes it, shortened.
TEXT = """\
# AOT ID: ['0_backward']
async_compile = AsyncCompile()
# kernel path: /tmp/torchinductor_me/ab/cab.py
# Topologically Sorted Source Nodes: [y_1, z], Original ATen: [aten.relu, aten.mul]
# Source node to ATen node mapping:
#   y_1 => relu
# Graph fragment:
#   %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,))
triton_poi_fused_mul_relu_0 = async_compile.triton('triton_poi_fused_mul_relu_0', '''
@triton.jit
def triton_poi_fused_mul_relu_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 128
''', device_str='cuda')
cpp_fused_sum_1 = async_compile.cpp_pybinding(['float*'], r'''
''')
def call(args):
        # Topologically Sorted Source Nodes: [y], Original ATen: [aten.t, aten.addmm]
        extern_kernels.addmm(arg2, arg3, out=buf0)
        buf1 = empty_strided_cuda((8, 16), (16, 1), torch.float32)
        # Unsorted Source Nodes: [y_1], Original ATen: [aten.relu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_mul_relu_0.run(buf0, 128, stream=stream0)
        triton_poi_fused_mul_relu_0.run(buf1, 128, stream=stream0)
        cpp_fused_sum_1(buf0)
"""
KERNEL = "triton_poi_fused_mul_relu_0"


def trace(line: int) -> str:
    return f'  File "model.py", line {line}, in forward\n'


def test_launches_have_their_comment_or_that_of_the_kernel() -> None:
    assert list(launches_in(TEXT)) == [
        Launch("extern_kernels.addmm", 18, ("y",), ("aten.t", "aten.addmm")),
        Launch(KERNEL, 22, ("y_1",), ("aten.relu",)),
        Launch(KERNEL, 23, ("y_1", "z"), ("aten.relu", "aten.mul")),
    ]


def test_each_launch_brings_its_line() -> None:
    line_map = ([17, 19, 23], [trace(8), trace(9), trace(10)])
    call, kernel = read_wrapper("w.py", TEXT, line_map)
    assert (call.kernel, call.wrapper, call.wrapper_line) == ("extern_kernels.addmm", "w.py", 18)
    assert (kernel.kernel, kernel.wrapper_line, kernel.is_partial) == (KERNEL, 0, True)
    assert kernel.lines == (
        OriginLine("model.py", 9, "forward", ("aten.relu",), ("y_1",), True),
        OriginLine("model.py", 10, "forward", ("aten.relu", "aten.mul"), ("y_1", "z"), True),
    )


def test_launches_before_the_first_line_or_without_a_trace_are_left_out() -> None:
    assert read_wrapper("w.py", TEXT, ([22], [None])) == []
    assert read_wrapper("w.py", "", ([1], [trace(1)])) == []


def test_a_forward_graph_is_told_by_its_head() -> None:
    forward = TEXT.replace("0_backward", "0_forward")
    found = read_wrapper("w.py", forward, ([1], [trace(8)]))
    assert [line.is_backward for each in found for line in each.lines] == [False, False]
