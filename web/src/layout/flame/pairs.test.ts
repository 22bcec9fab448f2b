import { expect, test } from "vitest"
import { type Named, pairsOf } from "./pairs"
import { shapeOf } from "./shape.test.support"

function named(rows: readonly (readonly [number, string])[]): Named {
  return { ...shapeOf(rows).shape, nameOf: (box) => rows[box]?.[1] ?? "" }
}

test("contexts are the same on the same path, whatever their order", () => {
  const before = named([[0, "ROOT"], [1, "fwd"], [2, "k"], [1, "bwd"], [2, "k"], [2, "old"]])
  const after = named([[0, "ROOT"], [1, "bwd"], [2, "new"], [2, "k"], [1, "fwd"], [2, "k"]])
  expect([...pairsOf(after, before)]).toEqual([0, 3, -1, 4, 1, 2])
  expect([...pairsOf(before, after)]).toEqual([0, 4, 5, 1, 3, -1])
})

test("of siblings with one name the first is the first, and below what is new all is", () => {
  const before = named([[0, "ROOT"], [1, "k"], [1, "k"]])
  const after = named([[0, "ROOT"], [1, "k"], [1, "s"], [2, "k"], [1, "k"], [1, "k"]])
  expect([...pairsOf(after, before)]).toEqual([0, 1, -1, -1, 2, -1])
})
