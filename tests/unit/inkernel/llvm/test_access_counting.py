"""Counters as SSA values: what goes out before a return is what the way there did."""

import random
import re

from proton._native import DeviceMemory
from proton.inkernel.llvm.access_sites import count_accesses, find_sites
from proton.inkernel.llvm.carrier_line import read_carrier
from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify
from proton.inkernel.passes.count_bytes import CountBytes
from tests.unit.inkernel.llvm.test_counting import random_kernel

PHI = re.compile(r"\s*(%proton\.count\S+) = phi i32 (.*)")
EDGE = re.compile(r"\[ (\S+), %(\S+) \]")
ADD = re.compile(r"\s*(%proton\.access\d+) = add i32 (\S+), (\d+)")
OUT = re.compile(r"@__proton_count_out\(.*?, i64 (\d+), i32 (\S+), i1")
LOAD = "  %y{0} = load {1}, ptr addrspace(1) %1, align 4"


def kernel_with_loads(seed: int) -> LlvmModule:
    """A random control flow, its records replaced by loads of three kinds."""
    chance = random.Random(seed)
    lines = []
    for at, line in enumerate(random_kernel(seed).split("\n")):
        is_record = "proton.record" in line
        lines.append(LOAD.format(at, chance.choice(("i32", "i64", "half"))) if is_record else line)
    return LlvmModule("\n".join(lines))


def walk(module: LlvmModule, order: list[int], chance: random.Random, steps: int = 60) -> bool:
    """Follow one way through the kernel; whether it came to a return. `order`: mark -> site."""
    blocks = {block.name: block for block in module.kernel.blocks}
    values = {"0": 0}
    done: dict[int, int] = {}  # site -> accesses on this way
    before, name = "", module.kernel.blocks[0].name
    for _ in range(steps):
        lines = blocks[name].lines
        joins = [found for line in lines if (found := PHI.match(line))]
        edges = [{block: value for value, block in EDGE.findall(phi[2])} for phi in joins]
        values |= {phi[1]: values[edge[before]] for phi, edge in zip(joins, edges, strict=True)}
        for line in lines:
            if found := ADD.match(line):
                site = order[int(found[1].removeprefix("%proton.access"))]
                assert values[found[2]] == done.get(site, 0)
                values[found[1]] = done[site] = done.get(site, 0) + int(found[3])
            elif found := OUT.search(line):
                assert values[found[2]] == done.pop(int(found[1]) // DeviceMemory.COUNTER_BYTES, 0)
            elif line.lstrip().startswith("ret "):
                assert done == {}, "all that was counted goes out"
                return True
        after = blocks[name].successors()
        if not after:
            return False
        before, name = name, chance.choice(after)
    return False


def site_of_marks(module: LlvmModule) -> list[int]:
    sites = find_sites(module.kernel)
    carriers = (read_carrier(line) for block in module.kernel.blocks for line in block.lines)
    return [sites.of(each).number for each in carriers if each is not None and each.op == "access"]


def test_what_goes_out_is_what_the_way_there_did() -> None:
    returned = 0
    for seed in range(150):
        module = kernel_with_loads(seed)
        CountBytes().apply(module)
        sites, order = find_sites(module.kernel), site_of_marks(module)
        if not sites:
            continue
        thread_records(module, "circular_record", {"strategy": "circular"})
        verify(module)
        count_accesses(module.kernel, sites)
        chance = random.Random(seed)
        returned += sum(walk(module, order, chance) for _ in range(12))
    assert returned > 300
