import { describe, expect, it } from "vitest"
import { type Hue, colorOfHeat, colorOfReason, colorOfRegion, fillOf, fillOfChange, hueOfKind, inkOfRegion, oklch, strongOf } from "./colors"
import { contrast } from "./contrast.test.support"

const HUES: Hue[] = ["kernel", "copy", "scope", "python", "line", "module", "operator", "backward", "host"]
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

  it("has text of AA contrast on every change, and more is not less", () => {
    const changes = [-1, -0.3, -0.01, 0, 0.01, 0.3, 1]
    for (const change of changes) {
      for (const dim of [true, false]) {
        const { fill, text } = fillOfChange(change, dark, dim)
        expect(contrast(fill, text), `${change} ${dim}`).toBeGreaterThanOrEqual(4.5)
      }
    }
    expect(new Set(changes.map((change) => fillOfChange(change, dark).fill)).size).toBe(changes.length)
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
  expect(new Set(["k", "c", "s", "p", "l", "m", "o", "b"].map((kind) => hueOfKind(kind as "k"))).size).toBe(8)
})

const KNOWN = [
  "selected", "not_selected", "long_scoreboard", "short_scoreboard", "wait", "barrier", "membar", "lg_throttle",
  "mio_throttle", "tex_throttle", "math_pipe_throttle", "imc_miss", "no_instructions", "branch_resolving",
  "dispatch_stall", "drain", "sleeping", "warpgroup_arrive", "gmma", "misc",
]

it("gives every reason a colour of its own", () => {
  for (const dark of [false, true]) {
    expect(new Set(KNOWN.map((name) => colorOfReason(name, dark))).size).toBe(KNOWN.length)
  }
})

it("is seen on both grounds", () => {
  for (const name of [...KNOWN, "of hardware to come"]) {
    expect(contrast(colorOfReason(name, false), "#ffffff")).toBeGreaterThan(1.4)
    expect(contrast(colorOfReason(name, true), "#14171b")).toBeGreaterThan(2)
  }
})

it("is grey for a reason of hardware to come", () => {
  expect(colorOfReason("new_throttle", false)).toBe(colorOfReason("", false))
})

it("has a colour for each of many regions, on which text can be read", () => {
  for (const dark of [false, true]) {
    const colors = Array.from({ length: 21 }, (_, at) => colorOfRegion(at, dark))
    expect(new Set(colors).size).toBe(21)
    for (const color of colors) expect(contrast(color, inkOfRegion(dark))).toBeGreaterThan(4.5)
  }
})

it("gets stronger with heat", () => {
  const ground = { true: "#14171b", false: "#ffffff" }
  for (const dark of [false, true]) {
    const strength = [0.1, 0.5, 1].map((share) => contrast(colorOfHeat(share, dark), ground[`${dark}`]))
    expect([...strength].sort((a, b) => a - b)).toEqual(strength)
    expect(strength[2]).toBeGreaterThan(4.5)
  }
})

it("gives reasons of one family the same order of lightness in both themes", () => {
  const light = (color: string): number => contrast(color, "#000000")
  for (const family of [["math_pipe_throttle", "gmma", "warpgroup_arrive"], ["long_scoreboard", "lg_throttle", "drain"]]) {
    for (const dark of [true, false]) {
      const found = family.map((name) => light(colorOfReason(name, dark)))
      expect(found).toEqual([...found].sort((a, b) => a - b))
    }
  }
})
