import { expect, it } from "vitest"
import { contrast } from "./colors"
import { colorOfHeat, colorOfRegion, inkOfRegion } from "./regions"

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
