import { describe, expect, it } from "vitest"
import { type RegionColumnsRead, layoutWarps, regionAt } from "./warps"

// CTA 0 has nothing; CTA 1 has warp 0 (loop with two dots inside, then the end; an event) and warp 3.
const COLUMNS: RegionColumnsRead = {
  first: Uint32Array.of(0, 0, 6),
  warp: Uint16Array.of(0, 0, 0, 0, 0, 3),
  line: Uint16Array.of(0, 0, 0, 0, 1, 0),
  name: Uint32Array.of(0, 1, 1, 2, 3, 0),
  start: Float64Array.of(0, 10, 30, 50, 5, 1),
  duration: Float64Array.of(50, 10, 10, 5, 40, 50),
}

describe("warps", () => {
  it("have nested regions above each other and events below", () => {
    const warps = layoutWarps(COLUMNS, 1)
    expect(warps.bands).toEqual([
      { warp: 0, row: 0, rows: 3 },
      { warp: 3, row: 3, rows: 1 },
    ])
    expect(warps.boxes.map((box) => [box.name, box.row])).toEqual([[0, 0], [1, 1], [1, 1], [2, 0], [3, 2], [0, 3]])
    expect([warps.from, warps.to, warps.rows]).toEqual([0, 55, 4])
  })

  it("are none in a CTA without regions", () => {
    expect(layoutWarps(COLUMNS, 0)).toEqual({ bands: [], rows: 0, boxes: [], from: 0, to: 0 })
    expect(layoutWarps(COLUMNS, 9).rows).toBe(0)
  })

  it("are found by row and time", () => {
    const warps = layoutWarps(COLUMNS, 1)
    expect(regionAt(warps, 1, 12, 0)?.at).toBe(1)
    expect(regionAt(warps, 1, 25, 0)).toBe(null)
    expect(regionAt(warps, 1, 25, 6)?.name).toBe(1)
  })
})
