"""Replaces the ops of a kernel by calls of the helpers: the last step of every lowering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
from proton.inkernel.llvm.access_sites import Sites, count_accesses, find_sites, opening
from proton.inkernel.llvm.accesses import find_uncovered
from proton.inkernel.llvm.carrier_line import MARK, CarrierLine, read_body
from proton.inkernel.llvm.helpers import common_text
from proton.inkernel.llvm.module import LlvmModule, Lowering
from proton.inkernel.llvm.plan import BufferPlan, find_init, read_plan
from proton.inkernel.llvm.regions import Regions, find_regions, value_words

SHARED = "@global_smem"
CALLBACK_BUFFER = "%proton.callback_buffer"


def lower(
    module: LlvmModule,
    vendor: str,
    primitives: Callable[[BufferPlan], str],
    declarations: Mapping[str, str],
    facts: Mapping[str, object],
) -> None:
    """Lower every op of the kernel; sets `module.lowering`. A kernel without ops stays as it is.

    Args:
        module: Records have a strategy and memory.
        vendor: Whose kernel it must be: "nvidia" or "amd".
        primitives: Makes the vendor's functions.
        declarations: Intrinsics that those use -> their declaration.
        facts: What the vendor adds to the record map.
    """
    found = find_init(module)
    if found is None:
        return
    kernel = module.kernel
    if kernel.vendor != vendor:
        raise InstrumentationError(
            f"kernel {kernel.name!r} is for {kernel.vendor}; use lower-to-{kernel.vendor}"
        )
    plan = read_plan(kernel.name, found[1].attributes)
    callbacks = _callbacks(module, plan)
    regions = find_regions(module)
    sites = find_sites(kernel)
    if len(sites) != plan.counters:
        raise InstrumentationError(
            f"kernel {kernel.name!r}: {len(sites)} kinds of memory accesses are marked and "
            f"{plan.counters} have counters; run count-bytes or record-memory before allocating"
        )
    uncovered = find_uncovered(module) if sites or plan.counts else {}
    scratch = kernel.open_scratch()
    if sites:
        count_accesses(kernel, sites, records_all=plan.records_all)
    if plan.callback:
        _place_callback_buffer(module, scratch)
    emitter = _Emitter(plan, regions, sites, scratch)
    for block in kernel.blocks:
        lines: list[str] = []
        for each in read_body(block.lines):
            lines += [each] if isinstance(each, str) else emitter.lines(each)
        block.lines = lines
    if plan.stage and not module.has(f"{SHARED} = "):
        module.prologue.append(f"{SHARED} = external addrspace(3) global [0 x i8], align 16\n")
    outside = [*module.prologue, *module.epilogue]
    module.epilogue += [
        declaration
        for name, declaration in declarations.items()
        if not any(line.startswith("declare") and f"@{name}(" in line for line in outside)
    ]
    module.epilogue += (common_text(plan) + primitives(plan)).split("\n")
    module.lowering = Lowering(
        shared_bytes=plan.shared_bytes,
        scratch_bytes=plan.scratch_bytes,
        scratch_align=plan.align,
        record_map={
            **_record_map(module, plan, regions, emitter.records, facts),
            **_counted(plan, sites, uncovered),
            **callbacks,
        },
    )
    module.epilogue.append(module.lowering.comment())


def _record_map(
    module: LlvmModule,
    plan: BufferPlan,
    regions: Regions,
    records: int,
    facts: Mapping[str, object],
) -> dict[str, object]:
    return {
        "kernel": module.kernel.name,
        "strategy": plan.strategy,
        "memory": plan.memory,
        "ring_bytes": plan.ring,
        "stage_bytes": plan.stage,
        "warps": list(plan.recorded),
        "warps_per_unit": plan.unit,
        "num_warps": plan.warps,
        "ctas": list(plan.ctas),
        "cta_every": plan.every,
        "static_records": records,
        "skipped": dict(Counter(name for name, line in module.called_lines() if MARK in line)),
        **facts,
        "regions": regions.to_json(),
    }


def _callbacks(module: LlvmModule, plan: BufferPlan) -> dict[str, object]:
    """The sites of callbacks that are in the kernel already."""
    if module.lowering is None or "callbacks" not in module.lowering.record_map:
        return {}
    return {
        "callbacks": module.lowering.record_map["callbacks"],
        "callback_offset": plan.slots_bytes + plan.table_bytes,  # times the grid
    }


def _place_callback_buffer(module: LlvmModule, scratch: str) -> None:
    """Have callbacks get the part of the buffer that is theirs."""
    entry = module.kernel.blocks[0].lines
    for at, line in enumerate(entry):
        if line.lstrip().startswith(f"{CALLBACK_BUFFER} ="):
            call = f"@__proton_callback_buffer(ptr addrspace(1) {scratch})"
            entry[at] = f"  {CALLBACK_BUFFER} = call ptr addrspace(1) {call}"


def _counted(plan: BufferPlan, sites: Sites, uncovered: Mapping[str, int]) -> dict[str, object]:
    """What the record map says of memory accesses; nothing where none are counted."""
    if not (sites or uncovered):
        return {}
    return {
        "counters": [site.to_json() for site in sites],
        "counter_bytes": plan.counter_bytes,
        "slots_bytes": plan.slots_bytes,
        "bins": plan.bins,
        "bin_bytes": plan.bin_bytes,
        "hashed": plan.hashed,
        "rows": plan.rows,
        "columns": [column.to_json() for column in sites.columns] if plan.columns else [],
        "uncovered": dict(uncovered),
    }


class _Emitter:
    """Makes the calls that stand for ops; counts the records."""

    def __init__(self, plan: BufferPlan, regions: Regions, sites: Sites, scratch: str) -> None:
        self.records = 0
        self._ends = 0
        self._sites = sites
        self._plan = plan
        self._regions = regions
        self._base = f"{plan.handle} %proton.base"
        self._scratch = f"ptr addrspace(1) {scratch}"
        self._lead = "i1 %proton.lead"

    def lines(self, op: CarrierLine) -> list[str]:
        """What stands for `op`; its result stays defined."""
        if op.op == "init":
            lines = [
                "%proton.lead = call i1 @__proton_lead()",
                f"%proton.base = call {self._plan.handle} "
                f"@__proton_open({self._scratch}, {self._lead})",
            ]
            if self._plan.counters:
                lines += opening(self._plan, self._sites, self._scratch.rpartition(" ")[2])
            return [op.indent + line for line in lines]
        count, _ = op.count_and_value()
        if op.op == "finalize":
            return [op.indent + line for line in self._close(count)]
        if op.op == "notify":
            return self._notify(op, count)
        self.records += 1
        return self._record(op, count)

    def _close(self, count: str) -> list[str]:
        """Without records between, nothing of ours is kept in a register of the kernel's."""
        lead, lines = self._lead, []
        if not (self._plan.ring or self._plan.counters):
            self._ends += 1
            lead = f"i1 %proton.lead{self._ends}"
            lines.append(f"{lead[3:]} = call i1 @__proton_lead()")
        arguments = f"{self._base}, i32 {count}, {self._scratch}, {lead}"
        return [*lines, f"call void @__proton_close({arguments})"]

    def _notify(self, op: CarrierLine, count: str) -> list[str]:
        lines = [f"{op.indent}{op.result} = add i32 {count}, 0"]
        if self._plan.strategy == "flush" and not self._plan.stage and self._plan.ring:
            arguments = f"i32 {count}, {self._scratch}, {self._lead}"
            lines.append(f"{op.indent}call void @__proton_notify({arguments}){op.location}")
        return lines

    def _record(self, op: CarrierLine, count: str) -> list[str]:
        if not self._plan.ring:
            raise InstrumentationError("a kernel with records needs a ring; none was allocated")
        kind = layout.RecordKind[op.action.upper()]
        region = self._regions.id_of(op)
        assert region is not None
        tag = layout.pack_tag(kind, region)
        tag -= tag >> 31 << 32  # as a number with a sign
        after = f"{self._scratch}, {self._lead})"
        call = (
            f"call i32 @__proton_record({self._base}, i32 {count}, i32 {tag}, {after}{op.location}"
        )
        if op.action != "value":
            return [f"{op.indent}{op.result} = {call}"]
        stem = f"%proton.value{self.records}"
        wanted = self._regions.regions[region].value_type
        lines, high, low = value_words(op, wanted, stem, str(tag))
        lines += [
            f"{stem}.next = {call}",
            f"{op.result} = call i32 @__proton_value({self._base}, i32 {stem}.next, i32 {high}, "
            f"i32 {low}, {after}{op.location}",
        ]
        return [op.indent + line for line in lines]
