import { describe, expect, it } from "vitest"
import type { WorkPart } from "../schema"
import type { Column } from "../unpack"
import { groupWork, sumOf } from "./work"

const NAMES = ["", "net.a", "net.b", "aten::mul", "mul_kernel", "model.py:5@forward"]
const COLUMNS: Record<string, Column> = {
  module: Uint32Array.of(1, 1, 2, 1),
  op: Uint32Array.of(3, 3, 3, 3),
  kernel: Uint32Array.of(4, 4, 4, 0),
  line: Uint32Array.of(5, 5, 0, 5),
  phase: Uint32Array.of(0, 1, 2, 0),
  time_ns: Float64Array.of(5, 7, 3, 0),
  count: Float64Array.of(1, 2, 1, 0),
  cpu_ns: Float64Array.of(0, 0, 0, 10),
  calls: Float64Array.of(0, 0, 0, 6),
}
const PART = { names: NAMES, ...Object.fromEntries(Object.keys(COLUMNS).map((id) => [id, id])) } as unknown as WorkPart
const column = (id: string): Column => COLUMNS[id] as Column

describe("work", () => {
  it("is told apart by phase", () => {
    expect(groupWork(PART, column, "module", {})).toEqual([
      { name: 1, time: [5, 7, 0], cpu: [10, 0, 0], count: 3, calls: 6 },
      { name: 2, time: [0, 0, 3], cpu: [0, 0, 0], count: 1, calls: 0 },
    ])
  })

  it("has the same sum however it is grouped, but kernels have no time of the host", () => {
    for (const by of ["module", "op", "kernel", "line"] as const) {
      const rows = groupWork(PART, column, by, {})
      expect(rows.reduce((sum, row) => sum + sumOf(row.time), 0)).toBe(15)
      expect(rows.reduce((sum, row) => sum + sumOf(row.cpu), 0)).toBe(by === "kernel" ? 0 : 10)
    }
  })

  it("is narrowed to what lies in names", () => {
    expect(groupWork(PART, column, "kernel", { module: 1, op: 3 })).toEqual([{ name: 4, time: [5, 7, 0], cpu: [0, 0, 0], count: 3, calls: 0 }])
    expect(groupWork(PART, column, "line", { module: 2 })).toEqual([{ name: 0, time: [0, 0, 3], cpu: [0, 0, 0], count: 1, calls: 0 }])
  })
})
