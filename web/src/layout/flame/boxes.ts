/** Where the boxes of a flame graph lie: children below their parent, callers above what they called.
 *
 * Lengths are pixels across and levels down. What is narrower than `least` is not laid out box by
 * box: neighbours that are too narrow become boxes that stand for several, and can be zoomed to.
 */
import type { Range } from "../axis"
import type { FlameTree } from "./tree"

export interface FlameLayout {
  /** Number of boxes; the arrays below have a place for each, parents first. */
  readonly count: number
  /** The box of the tree; of a box of many narrow ones, their parent. */
  readonly boxes: Int32Array
  /** 0 for one box, else how many narrow siblings this stands for. */
  readonly hidden: Int32Array
  /** Where the first of them stands among those that hang on their parent. */
  readonly froms: Int32Array
  readonly lefts: Float64Array
  readonly widths: Float64Array
  readonly levels: Int32Array
  /** One more than the deepest level. */
  readonly height: number
  /** The level of the root: 0, unless callers stand above it. */
  readonly base: number
  /** Places by level, from left to right. */
  readonly byLevel: readonly (readonly number[])[]
}

export interface FlameView {
  /** The box that takes the whole width; what is above it is drawn at whole width too. */
  zoom: number
  /** The part of what `zoom` shows that takes the whole width, as shares of it. */
  window?: Range | null
  width: number
  /** The least width of a box, in pixels. */
  least: number
}

const LEAST_WINDOW = 1e-6
const WHOLE: Range = [0, 1]

/** A window made `factor` times as wide around a share of what it shows; null where it is all. */
export function zoomWindow(window: Range | null, factor: number, at: number): Range | null {
  const [from, to] = window ?? WHOLE
  const size = Math.min(Math.max((to - from) * factor, LEAST_WINDOW), 1)
  return moveWindow([from + (to - from - size) * at, from + (to - from - size) * at + size], 0)
}

/** A window moved by a share of its own width; null where it is all. */
export function moveWindow(window: Range | null, share: number): Range | null {
  const [from, to] = window ?? WHOLE
  const size = Math.min(to - from, 1)
  const start = Math.min(Math.max(from + share * size, 0), 1 - size)
  return size > 1 - 1e-9 ? null : [start, start + size]
}

const GROUP = 7 // pixels of a box that stands for several

export function layoutFlame(tree: FlameTree, view: FlameView): FlameLayout {
  tree.refresh()
  const made = new Builder()
  for (const box of ancestorsOf(tree, view.zoom)) made.add(box, 0, 0, 0, view.width, tree.depth(box))
  const whole = tree.width(view.zoom)
  if (!(whole > 0) || !(view.width > 0)) return made.finish()
  const [shownFrom, shownTo] = view.window ?? WHOLE
  const scale = view.width / (whole * (shownTo - shownFrom))
  const left = 0 - shownFrom * whole * scale
  made.add(view.zoom, 0, 0, left, whole * scale, tree.depth(view.zoom))
  const canvas = { made, tree, scale, width: view.width, least: view.least }
  grow(canvas, view.zoom, left, 1)
  grow(canvas, 0, left, -1)
  return made.finish()
}

/** Lay out what hangs on a box, level by level: children (1) or callers (-1). */
function grow({ made, tree, scale, width, least }: { made: Builder; tree: FlameTree; scale: number; width: number; least: number }, box: number, left: number, step: 1 | -1): void {
  const isSeen = (at: number, size: number): boolean => at < width && at + size > 0
  const pendingBoxes = [box]
  const pendingLefts = [left]
  while (pendingBoxes.length > 0) {
    const parent = pendingBoxes.pop() as number
    let at = pendingLefts.pop() as number
    const level = tree.depth(parent)
    if (parent !== box) made.add(parent, 0, 0, at, tree.width(parent) * scale, level)
    const next = nextTo(tree, parent, step)
    const from = pendingBoxes.length
    const narrow = new Narrow(made, parent, level + step)
    for (let index = 0; index < next.length; index++) {
      const child = next[index] as number
      const size = tree.width(child) * scale
      if (!isSeen(at, size)) narrow.flush()
      else if (size < least) narrow.add(index, at, size)
      else {
        narrow.flush()
        pendingBoxes.push(child)
        pendingLefts.push(at)
      }
      at += size
    }
    narrow.flush()
    reverse(pendingBoxes, from)
    reverse(pendingLefts, from)
  }
}

function nextTo(tree: FlameTree, box: number, step: 1 | -1): ArrayLike<number> {
  return step === 1 ? tree.children(box) : tree.callers(box)
}

/** The boxes that a place stands for: one, or several that are too narrow to draw. */
export function boxesAt(layout: FlameLayout, tree: FlameTree, place: number): number[] {
  const box = layout.boxes[place] as number
  const [many, from] = [layout.hidden[place] as number, layout.froms[place] as number]
  if (many === 0) return [box]
  return Array.from(nextTo(tree, box, (layout.levels[place] as number) < layout.base ? -1 : 1)).slice(from, from + many)
}

/** Pixels of a level: as much as there is room for, within reason; more on large screens. */
export function levelHeight(levels: number, height: number): number {
  const most = Math.min(40, Math.max(26, Math.floor(height / 28)))
  return Math.min(most, Math.max(19, Math.floor(height / Math.max(levels, 1))))
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
  for (const place of layout.byLevel[layout.base + tree.depth(box)] ?? []) {
    if (layout.boxes[place] === box && layout.hidden[place] === 0) return place
  }
  return -1
}

export type Step = "up" | "down" | "left" | "right"

/** The place next to `place`: what it hangs on, the widest that hangs on it, or a neighbour on its level. */
export function neighbour(layout: FlameLayout, place: number, step: Step): number {
  const level = layout.levels[place] ?? 0
  if (step === "up") return level > layout.base ? under(layout, place, level - 1) : widest(layout, place, level - 1)
  if (step === "down") return level < layout.base ? under(layout, place, level + 1) : widest(layout, place, level + 1)
  const places = (layout.byLevel[level] ?? []).filter((each) => layout.hidden[each] === 0)
  return places[places.indexOf(place) + (step === "left" ? -1 : 1)] ?? -1
}

/** What a box hangs on. */
function under(layout: FlameLayout, place: number, level: number): number {
  return placeAt(layout, (layout.lefts[place] ?? 0) + (layout.widths[place] ?? 0) / 2, level)
}

/** The widest of what hangs on a box. */
function widest(layout: FlameLayout, place: number, level: number): number {
  const left = layout.lefts[place] ?? 0
  const right = left + (layout.widths[place] ?? 0)
  let best = -1
  for (const next of layout.byLevel[level] ?? []) {
    const start = layout.lefts[next] as number
    if (start < left - 1e-6 || start >= right - 1e-6 || layout.hidden[next] !== 0) continue
    if (best < 0 || (layout.widths[next] as number) > (layout.widths[best] as number)) best = next
  }
  return best
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
  #highest = 0

  /** `level`: below the root, negative above it. */
  add(box: number, hidden: number, from: number, left: number, width: number, level: number): void {
    this.#highest = Math.min(this.#highest, level)
    this.#boxes.push(box)
    this.#hidden.push(hidden)
    this.#froms.push(from)
    this.#lefts.push(left)
    this.#widths.push(width)
    this.#levels.push(level)
  }

  finish(): FlameLayout {
    const lefts = Float64Array.from(this.#lefts)
    const base = -this.#highest
    const levels = Int32Array.from(this.#levels, (level) => level + base)
    const byLevel: number[][] = Array.from({ length: levels.reduce((most, level) => Math.max(most, level + 1), 0) }, () => [])
    levels.forEach((level, place) => byLevel[level]?.push(place))
    for (const places of byLevel) places.sort((a, b) => (lefts[a] as number) - (lefts[b] as number))
    return {
      count: this.#boxes.length,
      boxes: Int32Array.from(this.#boxes),
      hidden: Int32Array.from(this.#hidden),
      froms: Int32Array.from(this.#froms),
      lefts,
      widths: Float64Array.from(this.#widths),
      levels,
      height: byLevel.length,
      base,
      byLevel,
    }
  }
}
