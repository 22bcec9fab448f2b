/** Where the boxes of a flame graph lie: the root on top, children below their parent.
 *
 * Lengths are pixels across and levels down. What is narrower than `least` is not laid out box by
 * box: neighbours that are too narrow become boxes that stand for several, and can be zoomed to.
 */
import type { FlameTree } from "./tree"

export interface FlameLayout {
  /** Number of boxes; the arrays below have a place for each, parents first. */
  readonly count: number
  /** The box of the tree; of a box of many narrow ones, their parent. */
  readonly boxes: Int32Array
  /** 0 for one box, else how many narrow siblings this stands for. */
  readonly hidden: Int32Array
  /** Where the first of them stands among the children of their parent. */
  readonly froms: Int32Array
  readonly lefts: Float64Array
  readonly widths: Float64Array
  readonly levels: Int32Array
  /** One more than the deepest level. */
  readonly height: number
  /** Places by level, from left to right. */
  readonly byLevel: readonly (readonly number[])[]
}

export interface FlameView {
  /** The box that takes the whole width; what is above it is drawn at whole width too. */
  zoom: number
  /** The children that take the whole width, where not all do: the first, and one past the last. */
  range?: readonly [number, number] | null
  width: number
  /** The least width of a box, in pixels. */
  least: number
}

const GROUP = 7 // pixels of a box that stands for several

export function layoutFlame(tree: FlameTree, view: FlameView): FlameLayout {
  tree.refresh()
  const made = new Builder()
  for (const box of ancestorsOf(tree, view.zoom)) made.add(box, 0, 0, 0, view.width, tree.depth(box))
  const whole = shownWidth(tree, view.zoom, view.range ?? null)
  if (!(whole > 0) || !(view.width > 0)) return made.finish()
  const scale = view.width / whole
  const pendingBoxes = [view.zoom]
  const pendingLefts = [0]
  while (pendingBoxes.length > 0) {
    const box = pendingBoxes.pop() as number
    const left = pendingLefts.pop() as number
    const level = tree.depth(box)
    const isZoom = box === view.zoom
    made.add(box, 0, 0, left, isZoom ? view.width : tree.width(box) * scale, level)
    const children = tree.children(box)
    const [first, end] = (isZoom ? view.range : null) ?? [0, children.length]
    const from = pendingBoxes.length
    let at = left
    const narrow = new Narrow(made, box, level + 1)
    for (let index = first; index < Math.min(end, children.length); index++) {
      const child = children[index] as number
      const width = tree.width(child) * scale
      if (width < view.least) narrow.add(index, at, width)
      else {
        narrow.flush()
        pendingBoxes.push(child)
        pendingLefts.push(at)
      }
      at += width
    }
    narrow.flush()
    reverse(pendingBoxes, from)
    reverse(pendingLefts, from)
  }
  return made.finish()
}

/** What the whole width stands for: a box, or some of its children. */
export function shownWidth(tree: FlameTree, zoom: number, range: readonly [number, number] | null): number {
  if (range === null) return tree.width(zoom)
  const children = tree.children(zoom)
  let sum = 0
  for (let at = range[0]; at < Math.min(range[1], children.length); at++) sum += tree.width(children[at] as number)
  return sum
}

/** Pixels of a level: as much as there is room for, within reason. */
export function levelHeight(levels: number, height: number): number {
  return Math.min(26, Math.max(19, Math.floor(height / Math.max(levels, 1))))
}

/** The place of the box under a point; -1 for none. */
export function placeAt(layout: FlameLayout, x: number, level: number): number {
  const places = layout.byLevel[level]
  if (places === undefined) return -1
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((layout.lefts[places[middle] as number] as number) <= x) low = middle + 1
    else high = middle
  }
  const place = places[low - 1]
  if (place === undefined) return -1
  return x < (layout.lefts[place] as number) + (layout.widths[place] as number) ? place : -1
}

/** The place of a box of the tree; -1 where it was not laid out. */
export function placeOf(layout: FlameLayout, tree: FlameTree, box: number): number {
  for (const place of layout.byLevel[tree.depth(box)] ?? []) {
    if (layout.boxes[place] === box && layout.hidden[place] === 0) return place
  }
  return -1
}

export type Step = "up" | "down" | "left" | "right"

/** The place next to `place`: its parent, its widest child, or a neighbour on its level. */
export function neighbour(layout: FlameLayout, place: number, step: Step): number {
  const level = layout.levels[place] ?? 0
  const middle = (layout.lefts[place] ?? 0) + (layout.widths[place] ?? 0) / 2
  if (step === "up") return placeAt(layout, middle, level - 1)
  if (step === "down") {
    const left = layout.lefts[place] ?? 0
    const right = left + (layout.widths[place] ?? 0)
    let best = -1
    for (const below of layout.byLevel[level + 1] ?? []) {
      const start = layout.lefts[below] as number
      if (start < left - 1e-6 || start >= right - 1e-6 || layout.hidden[below] !== 0) continue
      if (best < 0 || (layout.widths[below] as number) > (layout.widths[best] as number)) best = below
    }
    return best
  }
  const places = (layout.byLevel[level] ?? []).filter((each) => layout.hidden[each] === 0)
  return places[places.indexOf(place) + (step === "left" ? -1 : 1)] ?? -1
}

function ancestorsOf(tree: FlameTree, box: number): number[] {
  const found: number[] = []
  for (let at = tree.parent(box); at >= 0; at = tree.parent(at)) found.push(at)
  return found.reverse()
}

function reverse(values: number[], from: number): void {
  for (let low = from, high = values.length - 1; low < high; low++, high--) {
    const kept = values[low] as number
    values[low] = values[high] as number
    values[high] = kept
  }
}

/** Neighbours too narrow to draw, gathered to boxes that are wide enough. */
class Narrow {
  #from = 0
  #count = 0
  #left = 0
  #width = 0

  constructor(
    readonly made: Builder,
    readonly parent: number,
    readonly level: number,
  ) {}

  add(index: number, left: number, width: number): void {
    if (this.#count === 0) [this.#from, this.#left, this.#width] = [index, left, 0]
    this.#count++
    this.#width += width
    if (this.#width >= GROUP) this.flush()
  }

  flush(): void {
    // What does not make up a pixel even together cannot be seen at all.
    if (this.#width >= 0.5 && this.#count > 0) this.made.add(this.parent, this.#count, this.#from, this.#left, this.#width, this.level)
    this.#count = 0
  }
}

class Builder {
  readonly #boxes: number[] = []
  readonly #hidden: number[] = []
  readonly #froms: number[] = []
  readonly #lefts: number[] = []
  readonly #widths: number[] = []
  readonly #levels: number[] = []
  readonly #byLevel: number[][] = []

  add(box: number, hidden: number, from: number, left: number, width: number, level: number): void {
    while (this.#byLevel.length <= level) this.#byLevel.push([])
    this.#byLevel[level]?.push(this.#boxes.length)
    this.#boxes.push(box)
    this.#hidden.push(hidden)
    this.#froms.push(from)
    this.#lefts.push(left)
    this.#widths.push(width)
    this.#levels.push(level)
  }

  finish(): FlameLayout {
    const lefts = Float64Array.from(this.#lefts)
    for (const places of this.#byLevel) places.sort((a, b) => (lefts[a] as number) - (lefts[b] as number))
    return {
      count: this.#boxes.length,
      boxes: Int32Array.from(this.#boxes),
      hidden: Int32Array.from(this.#hidden),
      froms: Int32Array.from(this.#froms),
      lefts,
      widths: Float64Array.from(this.#widths),
      levels: Int32Array.from(this.#levels),
      height: this.#byLevel.length,
      byLevel: this.#byLevel,
    }
  }
}
