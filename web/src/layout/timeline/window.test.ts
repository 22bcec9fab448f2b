import type { Range } from "../axis"
import { describe, expect, it } from "vitest"
import {
  axisOf,
  clampRange,
  moveRange,
  rangeAround,
  rangeOfText,
  rangeText,
  tickText,
  timeAt,
  wholeRange,
  xOf,
  zoomRange,
} from "./window"

const EXTENT: Range = [1000, 4_600_000_000]

describe("a range", () => {
  it("keeps the time under the pointer where it is while zooming", () => {
    const range: Range = [2_000_000, 3_000_000]
    const found = zoomRange(range, EXTENT, 0.5, 2_250_000)
    expect((2_250_000 - found[0]) / (found[1] - found[0])).toBeCloseTo(0.25, 9)
    expect(found[1] - found[0]).toBeCloseTo(500_000, 6)
  })

  it("zooms to a nanosecond, and no further", () => {
    let range = wholeRange(EXTENT)
    for (let step = 0; step < 200; step++) range = zoomRange(range, EXTENT, 0.8, 3_000_000_000.25)
    expect(range[1] - range[0]).toBeCloseTo(1, 5)
    expect(range[0]).toBeLessThan(3_000_000_000.25)
    expect(range[1]).toBeGreaterThan(3_000_000_000.25)
  })

  it("does not leave the trace", () => {
    expect(moveRange([2000, 3000], EXTENT, -50)[0]).toBeGreaterThanOrEqual(1000 - 20)
    expect(moveRange([2000, 3000], EXTENT, 1e9)[1]).toBeLessThanOrEqual(4_600_000_020)
    const whole = zoomRange([2000, 3000], EXTENT, 1e12, 2500)
    expect(whole[0]).toBeLessThanOrEqual(1000)
    expect(whole[1]).toBeGreaterThanOrEqual(4_600_000_000)
  })

  it("of a trace without any length is a nanosecond long", () => {
    const found = clampRange([5, 5], [5, 5])
    expect(found[1] - found[0]).toBeGreaterThanOrEqual(1)
    expect(wholeRange([5, 5])[1]).toBeGreaterThan(5)
  })

  it("around a span shows it in its middle", () => {
    expect(rangeAround(2_000_000, 2_000_300, EXTENT)).toEqual([1_999_700, 2_000_600])
  })

  it("comes back from the address as it went in", () => {
    for (const range of [[2_000_000, 3_000_000], [3_000_000_000.25, 3_000_000_001.25], wholeRange(EXTENT)] as Range[]) {
      const found = rangeOfText(rangeText(range, EXTENT), EXTENT) as Range
      expect(Math.abs(found[0] - range[0])).toBeLessThan((range[1] - range[0]) / 1000)
      expect(Math.abs(found[1] - range[1])).toBeLessThan((range[1] - range[0]) / 1000)
    }
  })

  it("in an address that makes no sense is none", () => {
    for (const text of ["", "1", "5~2", "a~b", "1~2~3", "NaN~Infinity"]) expect(rangeOfText(text, EXTENT)).toBeNull()
  })
})

describe("the axis", () => {
  it("writes as many digits as tell ticks apart", () => {
    expect(tickText(1_500_000_000, 500_000_000, 4e9)).toBe("1.5\u00a0s")
    expect(tickText(1_234_567_890, 1, 4e9)).toBe("1.234\u202f567\u202f890\u00a0s")
    expect(tickText(1_234_567_890, 1, 1.3e9)).toBe("1.234\u202f567\u202f890\u00a0s")
    expect(tickText(2_000, 1_000, 9_000)).toBe("2\u00a0µs")
    expect(tickText(0.2, 0.1, 0.9)).toBe("0.2\u00a0ns")
    expect(tickText(0, 100, 900)).toBe("0\u00a0ns")
  })

  it("counts from where the trace begins, and leaves room for its texts", () => {
    const ticks = axisOf({ from: 1_000_000_450, to: 1_000_001_350, width: 1000 }, 1_000_000_450)
    expect(ticks.map((tick) => tick.text).slice(0, 3)).toEqual(["0\u00a0ns", "100\u00a0ns", "200\u00a0ns"])
    const deep = axisOf({ from: 4_000_000_000, to: 4_000_000_010, width: 1000 }, 0)
    const apart = (deep[1]?.x ?? 0) - (deep[0]?.x ?? 0)
    expect(apart).toBeGreaterThan(6 * (deep[0]?.text.length ?? 99))
    expect(deep[0]?.text).toBe("4.000\u202f000\u202f000\u00a0s")
    expect(deep.at(-1)?.text).toBe("+10\u00a0ns")
    expect(new Set(deep.map((tick) => tick.text)).size).toBe(deep.length)
  })

  it("and pixels go over into each other", () => {
    const window = { from: 100, to: 300, width: 50 }
    expect(timeAt(window, 25)).toBe(200)
    expect(xOf(window, 200)).toBe(25)
  })
})
