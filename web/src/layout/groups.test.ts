import { expect, it } from "vitest"
import { profileOf } from "../model.test.support"
import type { Profile } from "../model"
import { Groups, foldsOf, spreadOf } from "./groups"

/** Three steps of two layers each, the last step with a kernel of its own. */
function steps(): Profile {
  const rows: [number, string, Record<string, number>?][] = [[0, "ROOT"]]
  for (const step of [0, 1, 2]) {
    rows.push([1, `step_${step}`])
    rows.push([2, "a", { "time (ns)": 10 * (step + 1) }])
    if (step === 2) rows.push([2, "b", { "time (ns)": 5 }])
  }
  return profileOf(rows, { folds: [[0, 1, 2, 1, 2, 1, 2, 3], { 1: "step_*" }] })
}

it("groups are a tree, with the sums of their contexts", () => {
  const shown = steps()
  const folds = foldsOf(shown)
  if (folds === null) throw new Error("no folds")
  expect([...folds.parents]).toEqual([-1, 0, 1, 1])
  expect([...folds.depths]).toEqual([0, 1, 2, 2])
  expect([...folds.ends]).toEqual([4, 4, 3, 4])
  expect([...folds.rows(1)]).toEqual([1, 3, 5])
  expect([...folds.sums(shown.totals("time (ns)"))]).toEqual([65, 65, 60, 5])
  expect(folds.title(1)).toBe("step_*")
  expect(folds.title(2)).toBe(null)
  expect(folds.titled).toEqual([1])
})

it("a profile in which each context stands by itself has no folds", () => {
  expect(foldsOf(profileOf([[0, "ROOT"], [1, "a"]]))).toBe(null)
})

it("what was not measured counts nothing", () => {
  const shape = { size: 3, parents: Int32Array.of(-1, 0, 0) }
  expect([...new Groups(shape, [0, 1, 1]).sums(Float64Array.of(Number.NaN, 2, Number.NaN))]).toEqual([0, 2])
})

it("quantiles are numbers that occur", () => {
  expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ count: 5, min: 1, median: 3, p90: 5, max: 5 })
  expect(spreadOf([7, Number.NaN])).toEqual({ count: 1, min: 7, median: 7, p90: 7, max: 7 })
  expect(spreadOf([])).toBe(null)
})

it("a hidden context counts as part of what is above it, once", () => {
  const shown = profileOf([[0, "ROOT"], [1, "main"], [2, "jit"], [3, "run"], [4, "k", { "time (ns)": 7 }], [2, "k", { "time (ns)": 3 }]], { library: [0, 1, 1, 1, 2, 3] })
  const groups = foldsOf(shown, { hidesLibrary: true })
  if (groups === null) throw new Error("no groups")
  expect([...groups.parents]).toEqual([-1, 0, 1, 1])
  expect([0, 1, 2, 3].map((group) => [...groups.rows(group)])).toEqual([[0], [1], [4], [5]])
  expect([...groups.sums(shown.totals("time (ns)"))]).toEqual([10, 10, 7, 3])
  expect([1, 2, 3, 4].map((row) => groups.isInside(row))).toEqual([false, true, true, false])
  expect(foldsOf(shown)).toBe(null)
})
