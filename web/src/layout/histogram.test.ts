import { expect, it } from "vitest"
import { histogramOf } from "./histogram"

it("counts every value once, the largest in the last bin", () => {
  const found = histogramOf([1, 2, 2, 3, 5], 4)
  expect(found?.counts).toEqual([1, 2, 1, 1])
  expect(found?.edges).toEqual([1, 2, 3, 4, 5])
  expect(found?.isLogarithmic).toBe(false)
})

it("has steps of equal ratio where values differ by much", () => {
  const found = histogramOf([1, 10, 100, 1000], 3)
  expect(found?.isLogarithmic).toBe(true)
  expect(found?.counts.reduce((sum, count) => sum + count)).toBe(4)
  expect(found?.edges[1]).toBeCloseTo(10)
})

it("is one bin of equal values, and nothing of less than two", () => {
  expect(histogramOf([7, 7, 7], 24)).toEqual({ edges: [7, 7], counts: [3], isLogarithmic: false })
  expect(histogramOf([7], 24)).toBeNull()
  expect(histogramOf([0, -1, Number.NaN, 5], 24)).toBeNull()
})
