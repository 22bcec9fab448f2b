"""The bytes written, as SSA values: right on every path of every control flow, random ones too."""

import random
import re

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import read_carrier
from proton.inkernel.llvm.counting import place_values, thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify

PHI = re.compile(r"\s*(%proton\.bytes\d+) = phi i32 (.*)")
EDGE = re.compile(r"\[ (\S+), %(\S+) \]")


def kernel_text(body: str) -> str:
    return f"define ptx_kernel void @k(i1 %0, ptr addrspace(1) readnone %1) #0 {{\n{body}\n}}\n"


def random_kernel(seed: int) -> str:
    """A kernel of up to 14 blocks: branches, switches, loops, returns, blocks nothing reaches."""
    chance = random.Random(seed)
    names = [f"b{at}" for at in range(chance.randint(1, 14))]
    number = 3
    lines: list[str] = []
    for at, name in enumerate(names):
        if at:
            lines.append(f"{name}:")
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            kind = chance.choice(("start x", "end x", "mark y", "value z"))
            operand = ("r,", "i32 7") if kind == "value z" else ("", "")
            lines.append(
                f'  %{number} = tail call i32 asm sideeffect "// proton.record {kind}", '
                f'"=r,{operand[0]}~{{memory}}"({operand[1]}) #5, !dbg !7'
            )
            number += 1
        targets = names[1:]
        kind = chance.choice(("br", "if", "if", "switch", "ret", "unreachable"))
        if kind == "ret" or not targets:
            lines.append("  ret void")
        elif kind == "unreachable" and at:
            lines.append("  unreachable")
        elif kind == "switch":
            lines.append(f"  switch i32 4, label %{chance.choice(targets)} [")
            lines += [f"    i32 {n}, label %{chance.choice(targets)}" for n in range(3)]
            lines.append("  ]")
        elif kind == "if":
            first, second = chance.choice(targets), chance.choice(targets)
            lines.append(f"  br i1 %0, label %{first}, label %{second}")
        else:
            lines.append(f"  br label %{chance.choice(targets)}")
    return kernel_text("\n".join(lines))


def check_walks(module: LlvmModule, walks: int, steps: int) -> int:
    """Walk the kernel at random; every op must take the bytes that the walk has written."""
    blocks = {block.name: block for block in module.kernel.blocks}
    checked = 0
    for seed in range(walks):
        chance = random.Random(seed)
        block, before, values, written = module.kernel.blocks[0], "", {"0": 0}, 0
        for _ in range(steps):
            for line in block.lines:
                if phi := PHI.match(line):
                    edges = {name: value for value, name in EDGE.findall(phi[2])}
                    values[phi[1]] = values[edges[before]]
                op = read_carrier(line)
                if op is None or op.op == "init":
                    continue
                assert values[op.count_and_value()[0]] == written, line
                checked += 1
                if op.is_record:
                    written += 16 if op.action == "value" else 8
                    values[op.result] = written
            if not block.successors():
                break
            before, block = block.name, blocks[chance.choice(block.successors())]
    return checked


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_every_path_of_random_control_flow_counts_right(first: int) -> None:
    checked = 0
    for seed in range(first, first + 100):
        module = LlvmModule(random_kernel(seed))
        thread_records(module, "circular_record", {"strategy": "circular"})
        again = LlvmModule(module.text())
        assert again.text() == module.text()
        verify(again)
        checked += check_walks(again, walks=20, steps=60)
    assert checked > 1000


def test_one_value_on_all_paths_needs_no_phi() -> None:
    order = ["entry", "left", "right", "join", "loop"]
    edges = {
        "entry": [],
        "left": ["entry"],
        "right": ["entry"],
        "join": ["left", "right"],
        "loop": ["join", "loop"],
    }
    tops, phis = place_values(order, edges, {"entry": "%5"})
    assert phis == {}
    assert tops["loop"] == "%5"


def test_a_loop_with_a_record_gets_one_phi_with_an_entry_for_each_edge() -> None:
    edges = {"entry": [], "loop": ["entry", "entry", "loop"], "out": ["loop"]}
    tops, phis = place_values(["entry", "loop", "out"], edges, {"loop": "%9"})
    assert list(phis) == ["loop"]
    assert phis["loop"].incoming == (("0", "entry"), ("0", "entry"), ("%9", "loop"))
    assert tops["out"] == "%9"


def test_an_edge_out_of_a_block_that_nothing_reaches_brings_poison() -> None:
    edges = {"entry": [], "dead": [], "left": ["entry"], "join": ["entry", "left", "dead"]}
    _, phis = place_values(["entry", "dead", "left", "join"], edges, {"left": "%3"})
    assert phis["join"].incoming[-1] == ("poison", "dead")


def test_opening_moves_to_the_entry_and_closing_to_the_returns() -> None:
    body = """  br i1 %0, label %a, label %b
a:
  %3 = call i32 asm sideeffect "// proton.init", "=r,~{memory}"()
  %4 = call i32 asm sideeffect "// proton.record mark m", "=r,~{memory}"()
  %5 = call i32 asm sideeffect "// proton.finalize", "=r,~{memory}"()
  br label %b
b:
  ret void"""
    module = LlvmModule(kernel_text(body))
    thread_records(module, "circular_record", {"strategy": "circular"})
    entry, middle, last = (block.lines for block in module.kernel.blocks)
    assert "// proton.init strategy=circular" in entry[0]
    assert middle[0].strip() == "%3 = freeze i32 poison"
    assert middle[2].strip() == "%5 = freeze i32 poison"
    assert "// proton.finalize" in last[-2]
    verify(module)


def test_a_guard_of_the_pipeliner_becomes_true() -> None:
    body = '  %3 = tail call i32 asm "// proton.guard", "=r"()\n  ret void'
    module = LlvmModule(kernel_text(body))
    thread_records(module, "circular_record", {"strategy": "circular"})
    assert "  %3 = add i32 1, 0" in module.text().split("\n")


def test_a_second_strategy_is_refused() -> None:
    module = LlvmModule(random_kernel(11))
    thread_records(module, "circular_record", {"strategy": "circular"})
    assert "circular_record" in module.text()
    with pytest.raises(InstrumentationError, match="have a strategy already"):
        thread_records(module, "flush_record", {"strategy": "flush"})
