import { describe, expect, test } from "vitest"
import { shapeOf } from "./shape.test.support"
import { TopDown, countBefore, matchedWidth, selfOf, widthsOf } from "./tree"

const STEP = shapeOf([
  [0, "ROOT"],
  [1, "forward"],
  [2, "matmul", 30],
  [2, "norm", 10],
  [1, "backward"],
  [2, "matmul", 50],
  [2, "other"],
])

describe("widths", () => {
  test("inclusive values add up to the root", () => {
    const widths = widthsOf(STEP.shape, STEP.own, true)
    expect([...widths]).toEqual([90, 40, 30, 10, 50, 50, 0])
  })

  test("a value that is of all below already is not added again", () => {
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "a", 100], [2, "b", 60], [2, "c", 70], [1, "d"], [2, "e", 5]])
    expect([...widthsOf(shape, own, false)]).toEqual([135, 130, 60, 70, 5, 5])
  })

  test("negative numbers have no width", () => {
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "a", -5], [1, "b", 5]])
    expect([...widthsOf(shape, own, true)]).toEqual([5, 0, 5])
  })

  test("what a row has by itself is what its children leave, without crumbs", () => {
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "a", 0.1], [2, "b", 0.2], [2, "c", 0.3]])
    const self = selfOf(shape, widthsOf(shape, own, true))
    expect(self[0]).toBe(0)
    expect(self[1]).toBeCloseTo(0.1)
    expect(self[2]).toBe(0.2)
  })
})

describe("from the root down", () => {
  test("children stand with the widest first, and without those of no width", () => {
    const tree = new TopDown(STEP.shape, widthsOf(STEP.shape, STEP.own, true))
    expect(Array.from(tree.children(0))).toEqual([4, 1])
    expect(Array.from(tree.children(4))).toEqual([5])
  })

  test("they can stand as they were recorded", () => {
    const tree = new TopDown(STEP.shape, widthsOf(STEP.shape, STEP.own, true), "recorded")
    expect(Array.from(tree.children(0))).toEqual([1, 4])
  })
})

test("a match inside a match is counted once", () => {
  const { shape, own } = shapeOf([[0, "ROOT"], [1, "a", 1], [2, "ab", 2], [1, "c", 7], [2, "a", 5]])
  const widths = widthsOf(shape, own, true)
  expect(matchedWidth(shape, widths, Uint8Array.of(0, 1, 1, 0, 1))).toBe(8)
})

test("marks before a row tell how many are in a subtree", () => {
  const counts = countBefore(Uint8Array.of(0, 1, 1, 0, 1))
  expect([...counts]).toEqual([0, 0, 1, 2, 2, 3])
})
