from proton.inkernel.ir.module import Op
from proton.inkernel.ir.parse import read_module
from proton.inkernel.ir.roots import find_definition, find_root

TEXT = """\
module {
  tt.func public @k(%x: i32) {
    %bars = ttg.local_alloc : () -> i32
    %other = ttg.local_alloc : () -> i32
    %b = ttg.memdesc_index %bars[%x] : i32
    %l = scf.for %i = %x to %x step %x iter_args(%carried = %b) -> (i32)  : i32 {
      a.use %carried, %x
      scf.if %x {
        %s = ttg.memdesc_index %other[%x] : i32
        b.use %s
      } else {
        %s = ttg.memdesc_index %bars[%x] : i32
        c.use %s
      }
      scf.yield %carried : i32
    }
    ttg.warp_specialize(%x, %bars)
    default {
      ttg.warp_yield
    }
    partition0(%p: i32 loc("p"), %q: i32) num_warps(1) {
      %v = ttg.memdesc_index %q[%p] : i32
      d.use %v, %p
      ttg.warp_return
    } : (i32, i32) -> ()
    tt.return
  }
}"""


def _op(name: str) -> Op:
    return next(op for op in read_module(TEXT).walk() if op.name == name)


def test_views_lead_back_to_what_they_are_views_of() -> None:
    bars, other = (2, "%bars"), (3, "%other")
    assert find_root(_op("b.use"), "%s") == other
    assert find_root(_op("c.use"), "%s") == bars  # a name may mean something else next door


def test_carried_values_and_partition_arguments_are_followed() -> None:
    assert find_root(_op("a.use"), "%carried") == (2, "%bars")
    assert find_root(_op("d.use"), "%v") == (2, "%bars")


def test_arguments_of_the_function_are_roots() -> None:
    assert find_root(_op("a.use"), "%x") == (1, "%x")
    assert find_root(_op("d.use"), "%p") == (1, "%x")
    assert find_root(_op("a.use"), "%nowhere") == (-1, "%nowhere")


def test_a_definition_is_an_operation_or_nothing() -> None:
    found = find_definition(_op("d.use"), "%v")
    assert found is not None
    assert found.name == "ttg.memdesc_index"
    assert find_definition(_op("a.use"), "%x") is None
