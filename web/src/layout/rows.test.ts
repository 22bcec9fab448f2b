import { expect, test } from "vitest"
import { scrollTo, sorted, visibleRows } from "./rows"

test("only rows near the seen part are drawn, and the space is that of all", () => {
  const seen = visibleRows(10_000, 20, 2000, 400)
  expect([seen.from, seen.to]).toEqual([90, 130])
  expect(seen.above + seen.below + 20 * (seen.to - seen.from)).toBe(200_000)
})

test("a short table is drawn whole, also when scrolled past its end", () => {
  expect(visibleRows(5, 20, 0, 400)).toEqual({ from: 0, to: 5, above: 0, below: 0 })
  expect(visibleRows(5, 20, 9000, 400)).toEqual({ from: 5, to: 5, above: 100, below: 0 })
})

test("what is missing stands last in both directions", () => {
  const rows = [3, null, 1, Number.NaN, 2]
  expect(sorted(rows, (row) => row, false).slice(0, 3)).toEqual([1, 2, 3])
  expect(sorted(rows, (row) => row, true).slice(0, 3)).toEqual([3, 2, 1])
})

test("equals keep their order, and texts are compared as texts", () => {
  const rows = [["b", 1], ["a", 1], ["10", 0]] as const
  expect(sorted(rows, (row) => row[1], true).map((row) => row[0])).toEqual(["b", "a", "10"])
  expect(sorted(rows, (row) => row[0], false).map((row) => row[0])).toEqual(["10", "a", "b"])
})

test("a row that is seen needs no scrolling", () => {
  expect(scrollTo(5, 20, 50, 200)).toBe(50)
  expect(scrollTo(1, 20, 50, 200)).toBe(20)
  expect(scrollTo(20, 20, 50, 200)).toBe(220)
})
