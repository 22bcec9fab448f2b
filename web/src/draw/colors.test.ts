import { describe, expect, it } from "vitest"
import { type Hue, contrast, fillOf, hueOfKind, oklch, strongOf } from "./colors"

const HUES: Hue[] = ["kernel", "copy", "scope", "python", "line", "host"]
const GROUND = { true: "#14171b", false: "#ffffff" }

describe.each([true, false])("colours, dark: %s", (dark) => {
  it("has text of AA contrast on every fill", () => {
    for (const hue of HUES) {
      for (let depth = 0; depth < 12; depth++) {
        for (const dim of [true, false]) {
          const { fill, text } = fillOf(hue, depth, dark, dim)
          expect(contrast(fill, text), `${hue} ${depth} ${dim}`).toBeGreaterThanOrEqual(4.5)
        }
      }
    }
  })

  it("has bars that stand out from the ground", () => {
    for (const hue of HUES) expect(contrast(strongOf(hue, dark), GROUND[`${dark}`])).toBeGreaterThanOrEqual(2.5)
  })
})

it("has no red but for problems", () => {
  for (const hue of HUES) {
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(strongOf(hue, false).slice(at, at + 2), 16)) as [number, number, number]
    expect(red > 2 * green && red > 2 * blue, hue).toBe(false)
  }
})

it("knows black and white", () => {
  expect([oklch(0, 0, 0), oklch(1, 0, 0)]).toEqual(["#000000", "#ffffff"])
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21)
})

it("tells kernels, copies, scopes and Python frames apart", () => {
  expect(new Set(["k", "c", "s", "p", "l"].map((kind) => hueOfKind(kind as "k"))).size).toBe(5)
})
