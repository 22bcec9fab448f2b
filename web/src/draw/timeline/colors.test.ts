import { describe, expect, it } from "vitest"
import type { Timeline } from "../../layout/timeline/spans"
import { contrast } from "../contrast.test.support"
import { STEPS, causeColor, huesOf, stepsOf } from "./colors"

function named(names: string[], kind = "kernel"): Timeline {
  return { lookCount: names.length, nameOfLook: (look: number) => names[look], kindOfLook: () => kind } as unknown as Timeline
}

describe("colours of spans", () => {
  it("have a step that exists, whatever the name", () => {
    const names = Array.from({ length: 3000 }, (_, at) => `kernel_${at}_\u{1f600}${"x".repeat(at % 300)}`)
    const steps = stepsOf(named(names))
    expect(Math.max(...steps)).toBe(STEPS - 1)
    expect(new Set(steps).size).toBe(STEPS)
  })

  it("tell calls that launch from scopes", () => {
    const scope = huesOf(named(["launch"], "scope"))
    expect(huesOf(named(["launch"], "launch"))).not.toEqual(scope)
  })
})

describe("colours of causes", () => {
  it("differ from each other and stand out from the ground, light and dark", () => {
    for (const dark of [false, true]) {
      const colors = [0, 1, 2, 3, 4].map((cause) => causeColor(cause, dark))
      expect(new Set(colors).size).toBe(5)
      for (const color of colors) expect(contrast(color, dark ? "#14171b" : "#ffffff")).toBeGreaterThan(1.3)
    }
  })
})
