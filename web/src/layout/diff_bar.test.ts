import { expect, test } from "vitest"
import { largestChange, layoutDiffBar } from "./diff_bar"

test("slower goes right from the middle, faster left", () => {
  expect(layoutDiffBar(50, 10, 100)).toEqual({ left: 0.5, width: 0.25, low: 0.7, high: 0.8 })
  expect(layoutDiffBar(-100, null, 100)).toEqual({ left: 0, width: 0.5, low: null, high: null })
})

test("an interval that is wider than the plot is cut at its edge", () => {
  const bar = layoutDiffBar(10, 1000, 100)
  expect([bar.low, bar.high]).toEqual([0, 1])
})

test("no change at all is an empty bar", () => {
  expect(layoutDiffBar(0, 0, 0).width).toBe(0)
})

test("the scale leaves room for the interval of the largest change, but not for all doubt", () => {
  expect(largestChange([[-100, 20]])).toBe(120)
  expect(largestChange([[100, 1e9]])).toBe(200)
})
