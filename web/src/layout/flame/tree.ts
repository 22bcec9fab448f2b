/** What a flame graph is drawn from: contexts from the root down. `sandwich.ts` has those of one name. Nothing here recurses. */
import type { Groups, Shape } from "../groups"

const NONE: readonly number[] = []

export type Order = "widest" | "recorded"

/** Boxes by number; 0 is the root. Numbers stay what they are for the life of the tree. */
export interface FlameTree {
  width(box: number): number
  /** The context that a box stands for; of several, the first. */
  row(box: number): number
  /** Every context that a box stands for. */
  rows(box: number): ArrayLike<number>
  /** The box that it hangs on, one level nearer to the root; -1 for the root. */
  parent(box: number): number
  /** Levels below the root; above it they are negative. */
  depth(box: number): number
  /** What hangs below a box. */
  children(box: number): ArrayLike<number>
  /** What stands on a box: its callers. */
  callers(box: number): ArrayLike<number>
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

  rows(box: number): ArrayLike<number> {
    return [box]
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

  callers(_box: number): ArrayLike<number> {
    return NONE
  }

  refresh(): void {}
}

/** The same of contexts of which several are one: a box is a group. */
export class Grouped extends TopDown {
  constructor(
    readonly groups: Groups,
    /** Of every row, as for `TopDown`. */
    widths: Float64Array,
    order: Order = "widest",
  ) {
    super(groups, groups.sums(widths), order)
  }

  override row(box: number): number {
    return this.groups.rows(box)[0] ?? 0
  }

  override rows(box: number): ArrayLike<number> {
    return this.groups.rows(box)
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
