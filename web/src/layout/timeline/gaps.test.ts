import { describe, expect, it } from "vitest"
import type { Gaps } from "./spans"
import { GapSums } from "./gaps"

/** Gaps of 4 every 10, causes 0, 1, 2 by turns. */
function gaps(count: number): Gaps {
  const starts = Float64Array.from({ length: count }, (_, at) => at * 10)
  return { lane: 0, group: "", starts, ends: starts.map((start) => start + 4), causes: Uint8Array.from(starts, (_, at) => at % 3), sumsNs: [] }
}

function slowly(of: Gaps, from: number, to: number): number[] {
  const sums = [0, 0, 0]
  for (let at = 0; at < of.starts.length; at++) {
    const cut = Math.min(of.ends[at] as number, to) - Math.max(of.starts[at] as number, from)
    const cause = of.causes[at] as number
    if (cut > 0) sums[cause] = (sums[cause] as number) + cut
  }
  return sums
}

describe("sums of gaps", () => {
  it("are those of adding one by one, for any window", () => {
    for (const count of [0, 1, 63, 64, 65, 128, 1000]) {
      const of = gaps(count)
      const sums = new GapSums(of, 3)
      for (const [from, to] of [[0, 10_000], [-5, 3], [2, 3], [637, 643], [638, 5121], [9_000, 20_000], [5, 8]] as const) {
        expect([...sums.inWindow(from, to)]).toEqual(slowly(of, from, to))
      }
    }
  })

  it("name the cause with the most time, and all time", () => {
    const of: Gaps = {
      lane: 0,
      group: "",
      starts: Float64Array.of(0, 10, 20),
      ends: Float64Array.of(4, 13, 23),
      causes: Uint8Array.of(0, 2, 2),
      sumsNs: [],
    }
    const sums = new GapSums(of, 3)
    expect(sums.mostOf(0, 1)).toEqual([0, 4, 4])
    expect(sums.mostOf(0, 3)).toEqual([2, 6, 10])
  })
})
