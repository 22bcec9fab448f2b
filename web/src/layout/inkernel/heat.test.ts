import { expect, it } from "vitest"
import { gridOf, heatOf, lowestOf } from "./heat"

it("puts as many bins into a cell as needed, and loses no access", () => {
  const bins = Array.from({ length: 100 }, (_, at) => at)
  const grid = gridOf(bins, 8, 4)
  expect(grid).toMatchObject({ binsPerCell: 4, rows: 4, columns: 8 })
  expect(grid.cells).toHaveLength(25)
  expect(grid.cells.reduce((all, count) => all + count)).toBe(4950)
  expect(grid.most).toBe(96 + 97 + 98 + 99)
})

it("gives a few bins a cell each", () => {
  expect(gridOf([1, 2, 3], 8, 4)).toMatchObject({ binsPerCell: 1, rows: 1, most: 3 })
  expect(gridOf([], 8, 4).rows).toBe(0)
})

it("colours every access, and the most frequent ones fully", () => {
  expect(heatOf(0, 1, 10)).toBe(0)
  expect(heatOf(1, 1, 1e6)).toBeGreaterThan(0.1)
  expect(heatOf(1e6, 1, 1e6)).toBe(1)
  expect(heatOf(1, 1, 1)).toBe(1)
})

it("spans what there is, but makes no small difference look large", () => {
  expect(lowestOf(gridOf([0, 1000, 1e6], 8, 4))).toBe(1000)
  expect(lowestOf(gridOf([9000, 10_000], 8, 4))).toBe(625)
  expect(heatOf(9000, 625, 10_000)).toBeGreaterThan(0.9)
  expect(gridOf([0, 0], 8, 4)).toMatchObject({ least: 0, most: 0 })
})
