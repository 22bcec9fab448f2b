import { describe, expect, test } from "vitest"
import { Groups } from "../groups"
import { Sandwich } from "./sandwich"
import { shapeOf } from "./shape.test.support"
import { widthsOf } from "./tree"

const STEP = shapeOf([
  [0, "ROOT"],
  [1, "forward"],
  [2, "matmul", 30],
  [2, "norm", 10],
  [1, "backward"],
  [2, "matmul", 50],
  [2, "other"],
])

describe("of everything", () => {
  const tree = new Sandwich(STEP.shape, STEP.names, widthsOf(STEP.shape, STEP.own, true))
  const name = (box: number): number => STEP.names[tree.row(box)] as number

  test("one name is one box, whatever called it", () => {
    const [matmul, norm] = Array.from(tree.callers(0)) as [number, number]
    expect(tree.callers(0)).toHaveLength(2)
    expect([tree.width(0), tree.width(matmul), tree.width(norm)]).toEqual([90, 80, 10])
    expect(tree.rows(matmul)).toEqual([2, 5])
    expect([tree.row(0), tree.parent(0), tree.children(0).length]).toEqual([0, -1, 0])
  })

  test("above it stand its callers, the widest first, and the root is none", () => {
    const matmul = tree.callers(0)[0] as number
    const callers = Array.from(tree.callers(matmul))
    expect(callers.map((box) => [name(box), tree.width(box), tree.depth(box)])).toEqual([
      [STEP.names[4], 50, -2],
      [STEP.names[1], 30, -2],
    ])
    expect(tree.callers(callers[0] as number)).toHaveLength(0)
    expect(callers.map((box) => tree.called(box))).toEqual([5, 2])
  })

  test("contexts that meet in one caller are counted together", () => {
    const { shape, own, names } = shapeOf([[0, "ROOT"], [1, "s"], [2, "k", 3], [2, "k", 4]])
    const all = new Sandwich(shape, names, widthsOf(shape, own, true))
    const caller = all.callers(all.callers(0)[0] as number)[0] as number
    expect(all.width(caller)).toBe(7)
    expect(all.rows(caller)).toEqual([1])
  })

  test("a deep recursion of one name stops where it would take too long, and says so", () => {
    const rows = Array.from({ length: 10_001 }, (_, depth) => [depth, depth ? "f" : "ROOT", 1] as const)
    const { shape, own, names } = shapeOf(rows)
    const all = new Sandwich(shape, names, widthsOf(shape, own, true), null, 100_000)
    let box = 0
    let levels = 0
    for (; all.callers(box).length > 0; levels++) box = all.callers(box)[0] as number
    expect(levels).toBeGreaterThan(5)
    expect(levels).toBeLessThan(20)
    expect(all.isCut).toBe(true)
    all.refresh()
    expect(all.callers(box).length).toBe(1)
  })
})

describe("of a name", () => {
  // attn is called in two layers, and what it calls differs.
  const LAYERS = shapeOf([
    [0, "ROOT"],
    [1, "layer"],
    [2, "attn", 1],
    [3, "matmul", 20],
    [3, "softmax", 9],
    [1, "head"],
    [2, "wrap"],
    [3, "attn"],
    [4, "matmul", 50],
    [5, "line", 10],
    [1, "matmul", 7],
  ])
  const widths = widthsOf(LAYERS.shape, LAYERS.own, true)
  const of = (row: number, callers = 0, callee = 0): Sandwich => new Sandwich(LAYERS.shape, LAYERS.names, widths, { row, callers, callee })
  const told = (tree: Sandwich, boxes: ArrayLike<number>): [number, number][] => Array.from(boxes).map((box) => [LAYERS.names[tree.row(box)] as number, tree.width(box)])
  const [layer, matmul, softmax, wrap] = [1, 3, 4, 6].map((row) => LAYERS.names[row] as number) as [number, number, number, number]

  test("all its contexts are one box, with callers and callees over all of them", () => {
    const tree = of(2)
    expect([tree.width(0), Array.from(tree.rows(0)), tree.depth(0)]).toEqual([90, [2, 7], 0])
    expect(told(tree, tree.callers(0))).toEqual([[wrap, 60], [layer, 30]])
    expect(told(tree, tree.children(0))).toEqual([[matmul, 80], [softmax, 9]])
    const [wide] = Array.from(tree.children(0)) as [number]
    expect([tree.depth(wide), tree.parent(wide), Array.from(tree.rows(wide))]).toEqual([1, 0, [3, 8]])
    const caller = tree.callers(0)[0] as number
    expect([tree.depth(caller), tree.parent(caller), tree.called(caller), tree.children(caller).length]).toEqual([-1, 0, 7, 0])
    expect(tree.called(tree.callers(caller)[0] as number)).toBe(7)
  })

  test("any context of the name gives the same", () => {
    const [one, other] = [of(2), of(7)]
    expect(told(other, other.children(0))).toEqual(told(one, one.children(0)))
  })

  test("narrowed to a caller it has what that called and no more", () => {
    const tree = of(7, 2)
    expect([tree.width(0), Array.from(tree.rows(0))]).toEqual([60, [7]])
    expect(told(tree, tree.children(0))).toEqual([[matmul, 60]])
    expect([tree.depth(tree.narrowedAbove), tree.row(tree.narrowedAbove), tree.narrowedBelow]).toEqual([-2, 5, 0])
  })

  test("narrowed to what it called it has the callers of that, as much as went there", () => {
    const tree = of(2, 0, 4)
    expect(told(tree, tree.callers(0))).toEqual([[layer, 9]])
    expect([tree.width(tree.narrowedBelow), tree.row(tree.narrowedBelow)]).toEqual([9, 4])
    const deeper = of(2, 0, 9)
    expect(told(deeper, deeper.callers(0))).toEqual([[wrap, 10]])
    expect(of(2, 0, 10).narrowedBelow).toBe(0) // that one is elsewhere
  })

  test("a recursion is counted once, where it begins", () => {
    const { shape, own, names } = shapeOf([[0, "ROOT"], [1, "f", 1], [2, "g", 2], [3, "f", 4]])
    const tree = new Sandwich(shape, names, widthsOf(shape, own, true), { row: 3, callers: 0, callee: 3 })
    expect([tree.width(0), Array.from(tree.rows(0)), tree.callers(0).length]).toEqual([7, [1], 0])
    expect([tree.row(tree.narrowedBelow), tree.width(tree.narrowedBelow)]).toEqual([3, 4])
  })

  test("what has nothing of the metric is empty", () => {
    expect(new Sandwich(STEP.shape, STEP.names, widthsOf(STEP.shape, STEP.own, true), { row: 6, callers: 0, callee: 0 }).width(0)).toBe(0)
  })
})

test("of groups it tells contexts, and what is hidden in them calls nothing", () => {
  const { shape, own, names } = shapeOf([[0, "ROOT"], [1, "main"], [2, "jit"], [3, "k", 7], [2, "k", 3]])
  const groups = new Groups(shape, [0, 1, 1, 2, 3])
  const kept = Int32Array.from([0, 1, 3, 4], (row) => names[row] as number)
  const tree = new Sandwich(groups, kept, groups.sums(widthsOf(shape, own, true)), { row: 2, callers: 0, callee: 0 })
  expect([tree.width(0), Array.from(tree.rows(0))]).toEqual([10, [3, 4]])
  const caller = tree.callers(0)[0] as number
  expect([tree.row(caller), tree.width(caller), tree.called(caller)]).toEqual([1, 10, 3])
})
