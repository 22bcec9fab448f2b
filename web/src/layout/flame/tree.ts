/** What a flame graph is drawn from: contexts from the root down, or kernels with their callers below.
 *
 * Trees are walked as far as they are seen and no further: callers of 50 000 contexts, or of one
 * 10 000 levels deep, would be millions of boxes. Nothing here recurses.
 */
import type { Profile } from "../../model"

/** Contexts in depth-first order. */
export type Shape = Pick<Profile, "size" | "parents" | "ends" | "depths">

export type Order = "widest" | "recorded"

/** Boxes by number; 0 is the root. Numbers stay what they are for the life of the tree. */
export interface FlameTree {
  width(box: number): number
  /** The context that a box stands for; of several, the first. */
  row(box: number): number
  parent(box: number): number
  depth(box: number): number
  children(box: number): ArrayLike<number>
  /** A new drawing begins: what was left out for time may be walked now. */
  refresh(): void
  /** Whether something was left out because it would take too long. */
  readonly isCut: boolean
}

/** The width of every row: what it and all below it measured; nothing is narrower than its children.
 *
 * `isInclusive`: values are of a row alone and add up. Else a row's value is of all below it already,
 * and one that was not measured is as wide as what it holds.
 */
export function widthsOf(shape: Shape, own: Float64Array, isInclusive: boolean): Float64Array {
  const below = new Float64Array(shape.size)
  const widths = new Float64Array(shape.size)
  for (let row = shape.size - 1; row >= 0; row--) {
    const value = own[row] as number
    const mine = value > 0 ? value : 0 // neither NaN nor negative numbers have a width
    const held = below[row] as number
    const width = isInclusive ? mine + held : Math.max(mine, held)
    widths[row] = width
    if (row > 0) below[shape.parents[row] as number] = (below[shape.parents[row] as number] as number) + width
  }
  return widths
}

/** What each row has besides its children. */
export function selfOf(shape: Shape, widths: Float64Array): Float64Array {
  const self = widths.slice()
  for (let row = 1; row < shape.size; row++) {
    const parent = shape.parents[row] as number
    self[parent] = (self[parent] as number) - (widths[row] as number)
  }
  // Sums of fractions leave crumbs that are nobody's.
  for (let row = 0; row < shape.size; row++) {
    if ((self[row] as number) < 1e-9 * (widths[row] as number)) self[row] = 0
  }
  return self
}

/** Contexts from the root down: a box is a row. */
export class TopDown implements FlameTree {
  readonly isCut = false
  readonly #children = new Map<number, number[]>()

  constructor(
    readonly shape: Shape,
    readonly widths: Float64Array,
    readonly order: Order = "widest",
  ) {}

  width(box: number): number {
    return this.widths[box] ?? 0
  }

  row(box: number): number {
    return box
  }

  parent(box: number): number {
    return this.shape.parents[box] ?? -1
  }

  depth(box: number): number {
    return this.shape.depths[box] ?? 0
  }

  children(box: number): ArrayLike<number> {
    let rows = this.#children.get(box)
    if (rows === undefined) {
      rows = []
      const { ends } = this.shape
      for (let at = box + 1; at < (ends[box] as number); at = ends[at] as number) {
        if ((this.widths[at] as number) > 0) rows.push(at)
      }
      // Sorting keeps the recorded order of equals.
      if (this.order === "widest") rows.sort((a, b) => (this.widths[b] as number) - (this.widths[a] as number))
      this.#children.set(box, rows)
    }
    return rows
  }

  refresh(): void {}
}

/** Contexts that one box of the callers stands for: where it was called, and how much came from there. */
interface Callers {
  name: number
  parent: number
  depth: number
  width: number
  rows: number[]
  weights: number[]
  children: number[] | null
}

/** What measured something by itself, by name; below each what called it, and so on to the root. */
export class Inverted implements FlameTree {
  isCut = false
  readonly #boxes: Callers[]
  #work = 0
  // Numbers grow with every grouping, so that what an earlier one left behind is known by its size.
  readonly #groupOfName: Float64Array
  readonly #placeOfRow: Float64Array
  #nextGroup = 1
  #nextPlace = 1

  /**
   * @param names a number for the name of each row: equal names have equal numbers
   * @param budget steps for one drawing
   */
  constructor(
    readonly shape: Shape,
    readonly names: Int32Array,
    widths: Float64Array,
    readonly budget = 3_000_000,
  ) {
    const self = selfOf(shape, widths)
    const root: Callers = { name: -1, parent: -1, depth: 0, width: 0, rows: [], weights: [], children: [] }
    this.#boxes = [root]
    this.#groupOfName = new Float64Array(shape.size)
    this.#placeOfRow = new Float64Array(shape.size)
    const rows: number[] = []
    const weights: number[] = []
    for (let row = 1; row < shape.size; row++) {
      const weight = self[row] as number
      if (weight <= 0) continue
      rows.push(row)
      weights.push(weight)
      root.width += weight
    }
    root.children = this.#group(0, rows, weights)
  }

  width(box: number): number {
    return this.#boxes[box]?.width ?? 0
  }

  row(box: number): number {
    return this.#boxes[box]?.rows[0] ?? 0
  }

  /** Every context that a box stands for. */
  rows(box: number): readonly number[] {
    return this.#boxes[box]?.rows ?? []
  }

  parent(box: number): number {
    return this.#boxes[box]?.parent ?? -1
  }

  depth(box: number): number {
    return this.#boxes[box]?.depth ?? 0
  }

  children(box: number): ArrayLike<number> {
    const here = this.#boxes[box]
    if (here === undefined) return []
    if (here.children === null) {
      if (this.#work > this.budget) {
        this.isCut = true
        return []
      }
      this.#work += here.rows.length
      const rows: number[] = []
      const weights: number[] = []
      for (let at = 0; at < here.rows.length; at++) {
        const caller = this.shape.parents[here.rows[at] as number] as number
        if (caller <= 0) continue
        rows.push(caller)
        weights.push(here.weights[at] as number)
      }
      here.children = this.#group(box, rows, weights)
    }
    return here.children
  }

  refresh(): void {
    this.#work = 0
    this.isCut = false
  }

  /** The box that stands for the path from `row` up to its ancestor `depth - 1` levels above; -1 if none. */
  find(row: number, depth: number): number {
    let box = 0
    let at = row
    for (let level = 0; level < depth && at > 0; level++) {
      const name = this.names[at]
      const next = Array.from(this.children(box)).find((child) => this.#boxes[child]?.name === name)
      if (next === undefined) return -1
      box = next
      at = this.shape.parents[at] as number
    }
    return this.depth(box) === depth ? box : -1
  }

  /** New boxes below `parent`, one for each name among `rows`, the widest first. */
  #group(parent: number, rows: readonly number[], weights: readonly number[]): number[] {
    const depth = (this.#boxes[parent]?.depth ?? 0) + 1
    const groups: Callers[] = []
    const [firstGroup, firstPlace] = [this.#nextGroup, this.#nextPlace]
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const weight = weights[at] as number
      const name = this.names[row] as number
      let number = (this.#groupOfName[name] as number) - firstGroup
      if (number < 0) {
        number = groups.length
        this.#groupOfName[name] = this.#nextGroup++
        groups.push({ name, parent, depth, width: 0, rows: [], weights: [], children: null })
      }
      const group = groups[number] as Callers
      group.width += weight
      const place = (this.#placeOfRow[row] as number) - firstPlace
      if (place >= 0) group.weights[place] = (group.weights[place] as number) + weight
      else {
        this.#placeOfRow[row] = firstPlace + group.rows.length
        this.#nextPlace = Math.max(this.#nextPlace, firstPlace + group.rows.length + 1)
        group.rows.push(row)
        group.weights.push(weight)
      }
    }
    groups.sort((a, b) => b.width - a.width)
    return groups.map((group) => this.#boxes.push(group) - 1)
  }
}

/** How much of `widths` is in rows that `matches` marks, each part counted once. */
export function matchedWidth(shape: Shape, widths: Float64Array, matches: Uint8Array): number {
  let sum = 0
  let row = 0
  while (row < shape.size) {
    if (matches[row] === 1) {
      sum += widths[row] as number
      row = shape.ends[row] as number
    } else row++
  }
  return sum
}

/** For every row how many of those before it are marked, with one more at the end. */
export function countBefore(matches: Uint8Array): Int32Array {
  const counts = new Int32Array(matches.length + 1)
  for (let row = 0; row < matches.length; row++) counts[row + 1] = (counts[row] as number) + (matches[row] as number)
  return counts
}

/** A number for each name: equal names have equal numbers. */
export function numberNames(size: number, nameOf: (row: number) => string): Int32Array {
  const known = new Map<string, number>()
  const numbers = new Int32Array(size)
  for (let row = 0; row < size; row++) {
    const name = nameOf(row)
    let number = known.get(name)
    if (number === undefined) known.set(name, (number = known.size))
    numbers[row] = number
  }
  return numbers
}
