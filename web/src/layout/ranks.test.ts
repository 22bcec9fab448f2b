import { expect, it } from "vitest"
import type { Rank, SpreadColumns } from "../schema"
import type { Column } from "../unpack"
import { entriesOf, marksOf, orderOf } from "./ranks"

const rank = (number: number, time: number | null): Rank => ({
  rank: number, source: "", host: "", pid: null, device: "", time_ns: time, kernels: null, lost: 0,
})

const COLUMNS: Record<string, Column> = {
  at: Uint32Array.of(5, 2),
  least: Float64Array.of(1, 2),
  median: Float64Array.of(3, 2),
  largest: Float64Array.of(9, 2),
  excess: Float64Array.of(6, 0),
  slowest: Uint32Array.of(2, 0),
  times: Float32Array.of(1, 3, 9),
}
const SPREADS: SpreadColumns = {
  at: "at", least: "least", median: "median", largest: "largest", excess: "excess", slowest: "slowest", times: "times", left_out: 0,
}
const column = (id: string): Column => COLUMNS[id] as Column

it("gives the first entries the times of their ranks", () => {
  const [first, second] = entriesOf(SPREADS, 3, column)
  expect(first).toMatchObject({ at: 5, least: 1, median: 3, largest: 9, excess: 6, slowest: 2 })
  expect(Array.from(first?.times ?? [])).toEqual([1, 3, 9])
  expect(second?.times).toBe(null)
  expect(entriesOf(SPREADS, 0, column)[0]?.times).toBe(null)
})

it("orders ranks by number, or the slowest first", () => {
  const ranks = [rank(0, 5), rank(1, null), rank(4, 9), rank(7, 5)]
  expect(orderOf(ranks, "rank")).toEqual([0, 1, 2, 3])
  expect(orderOf(ranks, "time")).toEqual([2, 0, 3, 1])
})

it("puts close times into one mark", () => {
  expect(marksOf([0, 5, 5.01, 10], 10, 100)).toEqual([
    { x: 0, count: 1 },
    { x: 50, count: 2 },
    { x: 100, count: 1 },
  ])
  expect(marksOf([0], 0, 100)).toEqual([{ x: 0, count: 1 }])
})
