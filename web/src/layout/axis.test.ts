import { expect, it } from "vitest"
import { moved, rangeIn, ticksOf, zoomed } from "./axis"

it("zooms around a time that stays where it is", () => {
  expect(zoomed([0, 100], 0.5, 50, [0, 100])).toEqual([25, 75])
  expect(zoomed([0, 100], 0.5, 0, [0, 100])).toEqual([0, 50])
})

it("shows neither more than there is nor less than a nanosecond", () => {
  expect(zoomed([25, 75], 10, 50, [0, 100])).toEqual([0, 100])
  const near = zoomed([50, 51], 0.1, 50.5, [0, 100])
  expect(near[1] - near[0]).toBeCloseTo(1)
})

it("moves up to the ends", () => {
  expect(moved([20, 40], 100, [0, 100])).toEqual([80, 100])
  expect(moved([20, 40], -100, [0, 100])).toEqual([0, 20])
})

it("has round ticks", () => {
  expect(ticksOf([0, 100], 5).times).toEqual([0, 20, 40, 60, 80, 100])
  expect(ticksOf([3, 9], 3).times).toEqual([4, 6, 8])
  expect(ticksOf([5, 5], 3).times).toEqual([])
  expect(ticksOf([0, 1000], 1000 / 90)).toEqual({ step: 100, times: [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000] })
  expect(ticksOf([13, 27], 1400 / 150).times).toEqual([14, 16, 18, 20, 22, 24, 26])
})

it("takes from an address what there is of it", () => {
  expect(rangeIn(null, [10, 90])).toEqual([10, 90])
  expect(rangeIn([20, 40], [10, 90])).toEqual([20, 40])
  expect(rangeIn([0, 40], [10, 90])).toEqual([10, 40])
  expect(rangeIn([95, 99], [10, 90])).toEqual([10, 90])
})
