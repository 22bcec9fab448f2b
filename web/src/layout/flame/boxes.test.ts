import { describe, expect, test } from "vitest"
import { shapeOf } from "./shape.test.support"
import { boxesAt, layoutFlame, levelHeight, moveWindow, neighbour, placeAt, placeOf, zoomWindow } from "./boxes"
import { Sandwich } from "./sandwich"
import { TopDown, widthsOf } from "./tree"

const STEP = shapeOf([
  [0, "ROOT"],
  [1, "forward"],
  [2, "matmul", 30],
  [2, "norm", 10],
  [1, "backward", 10],
  [2, "matmul", 50],
])
const TREE = new TopDown(STEP.shape, widthsOf(STEP.shape, STEP.own, true))

function boxesOf(layout: ReturnType<typeof layoutFlame>): number[][] {
  return Array.from({ length: layout.count }, (_, at) => [
    layout.boxes[at] as number,
    layout.lefts[at] as number,
    layout.widths[at] as number,
    layout.levels[at] as number,
  ])
}

describe("layout", () => {
  test("children lie below their parent from its left edge on; what is left is the parent's own", () => {
    expect(boxesOf(layoutFlame(TREE, { zoom: 0, width: 100, least: 1 }))).toEqual([
      [0, 0, 100, 0],
      [4, 0, 60, 1],
      [5, 0, 50, 2],
      [1, 60, 40, 1],
      [2, 60, 30, 2],
      [3, 90, 10, 2],
    ])
  })

  test("a box that is zoomed to takes the whole width, and so do those above it", () => {
    expect(boxesOf(layoutFlame(TREE, { zoom: 1, width: 80, least: 1 }))).toEqual([
      [0, 0, 80, 0],
      [1, 0, 80, 1],
      [2, 0, 60, 2],
      [3, 60, 20, 2],
    ])
  })

  test("narrow siblings become boxes that stand for several, each wide enough to hit", () => {
    const rows = Array.from({ length: 40 }, () => [1, "k", 1] as const)
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "big", 60], ...rows])
    const layout = layoutFlame(new TopDown(shape, widthsOf(shape, own, true)), { zoom: 0, width: 100, least: 2 })
    const groups = Array.from({ length: layout.count }, (_, at) => at).filter((at) => layout.hidden[at] !== 0)
    expect(groups.map((at) => [layout.hidden[at], layout.froms[at], layout.lefts[at], layout.widths[at]])).toEqual([
      [7, 1, 60, 7], [7, 8, 67, 7], [7, 15, 74, 7], [7, 22, 81, 7], [7, 29, 88, 7], [5, 36, 95, 5],
    ])
  })

  test("such a box tells which ones it stands for", () => {
    const rows = Array.from({ length: 1000 }, () => [1, "k", 1] as const)
    const { shape, own } = shapeOf([[0, "ROOT"], ...rows])
    const tree = new TopDown(shape, widthsOf(shape, own, true))
    const layout = layoutFlame(tree, { zoom: 0, width: 100, least: 2 })
    expect(boxesAt(layout, tree, 0)).toEqual([0])
    const rest = Array.from({ length: layout.count - 1 }, (_, at) => boxesAt(layout, tree, at + 1))
    expect(rest.length).toBeLessThan(20)
    expect(rest.flat()).toEqual(Array.from({ length: 1000 }, (_, at) => 1 + at))
  })

  test("in recorded order each run of narrow siblings is a box of its own", () => {
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "a", 1], [1, "a", 1], [1, "b", 97], [1, "c", 1]])
    const tree = new TopDown(shape, widthsOf(shape, own, true), "recorded")
    const layout = layoutFlame(tree, { zoom: 0, width: 100, least: 1.5 })
    expect([...layout.hidden]).toEqual([0, 2, 1, 0])
  })

  test("nothing measured is nothing but the root's line", () => {
    const { shape, own } = shapeOf([[0, "ROOT"], [1, "a"]])
    expect(layoutFlame(new TopDown(shape, widthsOf(shape, own, true)), { zoom: 0, width: 9, least: 1 }).count).toBe(0)
  })

  test("of 50 000 contexts only those are laid out that can be seen", () => {
    const rows: [number, string, number?][] = [[0, "ROOT"]]
    for (let scope = 0; scope < 500; scope++) {
      rows.push([1, `scope ${scope}`])
      for (let kernel = 0; kernel < 99; kernel++) rows.push([2, `k${kernel}`, 1 + ((scope * kernel) % 97)])
    }
    const { shape, own, names } = shapeOf(rows)
    const widths = widthsOf(shape, own, true)
    const down = layoutFlame(new TopDown(shape, widths), { zoom: 0, width: 1200, least: 1 })
    const up = layoutFlame(new Sandwich(shape, names, widths), { zoom: 0, width: 1200, least: 1 })
    expect([down.height, up.height]).toEqual([3, 3])
    for (const layout of [down, up]) {
      expect(layout.count).toBeGreaterThan(50)
      expect(layout.count).toBeLessThan(2500)
    }
  })

  test("10 000 levels are laid out without recursion, both ways", () => {
    const rows = Array.from({ length: 10_001 }, (_, depth) => [depth, `f${depth}`] as const)
    const { shape, own, names } = shapeOf([...rows, [10_001, "leaf", 5]])
    const widths = widthsOf(shape, own, true)
    expect(layoutFlame(new TopDown(shape, widths), { zoom: 0, width: 100, least: 1 }).height).toBe(10_002)
    expect(layoutFlame(new Sandwich(shape, names, widths), { zoom: 0, width: 100, least: 1 }).height).toBe(10_002)
    expect(layoutFlame(new TopDown(shape, widths), { zoom: 9_000, width: 100, least: 1 }).count).toBe(10_002)
  })
})

describe("finding boxes", () => {
  const layout = layoutFlame(TREE, { zoom: 0, width: 100, least: 1 })
  const boxAt = (x: number, level: number): number => layout.boxes[placeAt(layout, x, level)] ?? -1

  test("a point is in the box that covers it", () => {
    expect([boxAt(0, 0), boxAt(59, 1), boxAt(60, 1), boxAt(95, 2)]).toEqual([0, 4, 1, 3])
  })

  test("a point beside all boxes is in none", () => {
    expect([boxAt(55, 2), boxAt(100, 0), boxAt(-1, 0), boxAt(5, 7)]).toEqual([-1, -1, -1, -1])
  })

  test("arrows go to the parent, the widest child and neighbours", () => {
    const go = (box: number, step: "up" | "down" | "left" | "right"): number =>
      layout.boxes[neighbour(layout, placeOf(layout, TREE, box), step)] ?? -1
    expect([go(0, "down"), go(1, "down"), go(3, "up")]).toEqual([4, 2, 1])
    expect([go(4, "right"), go(2, "left"), go(3, "right"), go(0, "up")]).toEqual([1, 5, -1, -1])
  })
})

describe("a sandwich", () => {
  const { shape, own, names } = shapeOf([[0, "ROOT"], [1, "a"], [2, "f"], [3, "x", 30], [3, "y", 10], [1, "b"], [2, "f"], [3, "x", 60]])
  const tree = new Sandwich(shape, names, widthsOf(shape, own, true), { row: 2, callers: 0, callee: 0 })
  const layout = layoutFlame(tree, { zoom: 0, width: 100, least: 1 })
  const named = (place: number): string => ["ROOT", "a", "f", "x", "y", "b"][names[tree.row(layout.boxes[place] as number)] as number] ?? ""

  test("has callers above the name and what it called below, all to one scale", () => {
    expect([layout.height, layout.base]).toEqual([3, 1])
    expect(layout.byLevel.map((places) => places.map((at) => [named(at), layout.lefts[at], layout.widths[at]]))).toEqual([
      [["b", 0, 60], ["a", 60, 40]],
      [["f", 0, 100]],
      [["x", 0, 90], ["y", 90, 10]],
    ])
  })

  test("is walked by arrows from the middle both ways", () => {
    const middle = placeOf(layout, tree, 0)
    const caller = neighbour(layout, middle, "up")
    expect([named(caller), named(neighbour(layout, caller, "right")), named(neighbour(layout, middle, "down"))]).toEqual(["b", "a", "x"])
    expect([neighbour(layout, caller, "down"), neighbour(layout, neighbour(layout, middle, "down"), "up")]).toEqual([middle, middle])
    expect(neighbour(layout, caller, "up")).toBe(-1)
  })

  test("keeps its callers to the scale of a callee that it is narrowed to", () => {
    const narrowed = new Sandwich(shape, names, widthsOf(shape, own, true), { row: 2, callers: 0, callee: 4 })
    const part = layoutFlame(narrowed, { zoom: narrowed.narrowedBelow, width: 100, least: 1 })
    expect(part.byLevel.map((places) => places.map((at) => part.widths[at]))).toEqual([[100], [100], [100]])
  })
})

test("levels are as high as there is room for, and always high enough to read", () => {
  expect([levelHeight(3, 700), levelHeight(30, 700), levelHeight(10_000, 700), levelHeight(0, 0)]).toEqual([26, 23, 19, 19])
  expect([levelHeight(3, 1300), levelHeight(3, 5000), levelHeight(100, 1300)]).toEqual([40, 40, 19]) // a large screen
})

test("a window of the width is zoomed around a place and moved, and never leaves the graph", () => {
  expect(zoomWindow(null, 0.5, 0.5)).toEqual([0.25, 0.75])
  expect(zoomWindow([0.25, 0.75], 0.5, 0)).toEqual([0.25, 0.5])
  expect(zoomWindow([0.25, 0.75], 2, 0.5)).toBe(null)
  expect(zoomWindow([0, 0.5], 1.5, 1)).toEqual([0, 0.75])
  expect(moveWindow([0.25, 0.5], 1)).toEqual([0.5, 0.75])
  expect(moveWindow([0.25, 0.5], -9)).toEqual([0, 0.25])
  expect(moveWindow(null, 0.5)).toBe(null)
  const [from, to] = zoomWindow([0.5, 0.5 + 1e-9], 0.1, 0.5) ?? [0, 1]
  expect(to - from).toBeCloseTo(1e-6)
})

test("what lies beside the window is not laid out, what reaches into it is", () => {
  const rows: [number, string, number?][] = [[0, "ROOT"], [1, "a", 50], [1, "b", 30], [1, "c", 20]]
  const { shape, own } = shapeOf(rows)
  const tree = new TopDown(shape, widthsOf(shape, own, true))
  const layout = layoutFlame(tree, { zoom: 0, window: [0.4, 0.6], width: 100, least: 1 })
  const boxes = (layout.byLevel[1] ?? []).map((place) => [layout.boxes[place], layout.lefts[place], layout.widths[place]])
  expect(boxes.map(([box]) => box)).toEqual([1, 2])
  expect(boxes[0]?.[1]).toBeCloseTo(-200)
  expect(boxes[0]?.[2]).toBeCloseTo(250)
  expect(boxes[1]?.[1]).toBeCloseTo(50)
})
