"""The verifier finds what a broken pass would leave."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify

TEXT = """define ptx_kernel void @k(i1 %0, ptr addrspace(1) %1) {
  %3 = call i32 asm sideeffect "// proton.record start a", "=r,~{memory}"()
  br i1 %0, label %left, label %join
left:
  %4 = call i32 asm sideeffect "// proton.record end a", "=r,~{memory}"()
  br label %join
join:
  %5 = call i32 asm sideeffect "// proton.record mark b", "=r,~{memory}"()
  ret void
}
"""


def threaded() -> str:
    module = LlvmModule(TEXT)
    thread_records(module, "circular_record", {"strategy": "circular"})
    return module.text()


def test_what_the_pass_leaves_is_right() -> None:
    assert "%proton.bytes2 = phi i32 [ %3, %2 ], [ %4, %left ]" in threaded()
    verify(LlvmModule(threaded()))
    verify(LlvmModule(TEXT))


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ("[ %4, %left ]", "[ %3, %left ]", "block 'join': wrong bytes from block 'left'"),
        ("(i32 %3)", "(i32 0)", "block 'left': circular_record 'a' does not take %3"),
        ("proton.init", "proton.notify", "records have a strategy and no init has"),
        ("proton.finalize", "proton.notify", "finalize must stand once, last"),
        ("circular_record mark", "record mark", "a record without a strategy is left"),
        ("  ret void", "  br label %join", "finalize must stand once, last"),
    ],
)
def test_each_broken_rule_is_named(right: str, wrong: str, why: str) -> None:
    assert threaded().count(right) == 1
    with pytest.raises(InstrumentationError, match=why):
        verify(LlvmModule(threaded().replace(right, wrong)))


def test_a_missing_phi_is_named() -> None:
    lines = [line for line in threaded().split("\n") if " = phi " not in line]
    text = "\n".join(lines).replace("%proton.bytes2", "%4")
    with pytest.raises(InstrumentationError, match=r"no phi for block|does not take"):
        verify(LlvmModule(text))


def test_a_second_init_is_refused() -> None:
    init = next(line for line in threaded().split("\n") if "proton.init" in line)
    text = threaded().replace("left:\n", f"left:\n{init.replace('opened', 'again')}\n")
    with pytest.raises(InstrumentationError, match="init must stand once, in the entry block"):
        verify(LlvmModule(text))
