import { expect, it } from "vitest"
import { barsOf, slowSteps, stepAt, stepsOf } from "./steps"

const EVEN = Array.from({ length: 100 }, (_, at) => 100 + (at % 5))

it("steps far from all others are slow, the slowest first", () => {
  const values = [...EVEN]
  values[17] = 150
  values[40] = 300
  const steps = stepsOf(values)
  if (steps === null) throw new Error("no steps")
  expect(slowSteps(steps)).toEqual([40, 17])
  expect(steps.spread).toEqual({ count: 100, min: 100, median: 102, p90: 104, max: 300 })
})

it("of even steps none is slow, nor of equal ones that differ by a hair", () => {
  for (const values of [EVEN, Array.from({ length: 50 }, (_, at) => 100 + (at === 7 ? 1 : 0))]) {
    const steps = stepsOf(values)
    expect(steps === null ? null : slowSteps(steps)).toEqual([])
  }
})

it("one step that takes very long does not make all others flat", () => {
  const steps = stepsOf([10_000, ...EVEN])
  if (steps === null) throw new Error("no steps")
  const bars = barsOf(steps, 505)
  expect(bars[0]).toMatchObject({ height: 1, isCut: true, isSlow: true })
  expect(bars[1]?.height).toBeGreaterThan(0.2)
  expect(bars[1]?.isCut).toBe(false)
})

it("a bar of several steps is as high as the largest, and a click on it means that one", () => {
  const values = [...EVEN]
  values[57] = 400
  const steps = stepsOf(values)
  if (steps === null) throw new Error("no steps")
  const bars = barsOf(steps, 10)
  expect(bars.length).toBe(10)
  expect(bars.map((bar) => bar.isSlow)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => at === 5))
  expect(stepAt(steps, 10, 5.5)).toBe(57)
  expect(stepAt(steps, 1000, 575)).toBe(57)
  expect(stepAt(steps, 10, 10)).toBe(-1)
})

it("nothing to draw is no chart, and what was not measured has no bar", () => {
  expect(stepsOf([])).toBe(null)
  expect(stepsOf([0, 0])).toBe(null)
  const steps = stepsOf([Number.NaN, 4])
  expect(steps === null ? [] : barsOf(steps, 8).map((bar) => bar.height)).toEqual([0, 1])
})

it("marks above all bars fit in the chart", () => {
  expect(stepsOf(EVEN)?.top).toBe(104)
  expect(stepsOf(EVEN, EVEN.map((value) => 2 * value))?.top).toBe(208)
  expect(stepsOf(EVEN, EVEN.map(() => 1))?.top).toBe(104)
})
