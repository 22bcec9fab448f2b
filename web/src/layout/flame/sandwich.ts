/** One name over all its contexts: what called it above, what it called below. */
import type { Shape } from "../groups"
import { type Contexts, Half, type Next } from "./half"
import { type FlameTree, selfOf } from "./tree"

/** What is in the middle, and what it is narrowed to. */
export interface Middle {
  /** A context of the name. */
  row: number
  /** Only what was called by these many callers of `row`. */
  callers: number
  /** Only what went into this context, which is below one of the name; 0: all. */
  callee: number
}

/** Box 0 is the name in the middle, odd boxes are its callers, even ones what it called.
 *
 * Without a name, everything is in the middle and above it stands what measured something by itself.
 */
export class Sandwich implements FlameTree {
  /** The caller and the callee that it is narrowed to; 0 where it is not. */
  readonly narrowedAbove: number
  readonly narrowedBelow: number
  readonly #above: Half
  readonly #below: Half

  /**
   * @param shape contexts, or groups that are shown in their place
   * @param names a number for the name of each: equal names have equal numbers
   * @param budget steps for one drawing
   */
  constructor(
    readonly shape: Shape & { rows?(place: number): ArrayLike<number> },
    readonly names: Int32Array,
    readonly widths: Float64Array,
    readonly middle: Middle | null = null,
    budget = 3_000_000,
  ) {
    const above: Next = (row, weight, add) => {
      const caller = shape.parents[row] as number
      if (caller > 0) add(caller, weight)
    }
    const below: Next = (row, _weight, add) => {
      for (let at = row + 1; at < (shape.ends[row] as number); at = shape.ends[at] as number) {
        if ((widths[at] as number) > 0) add(at, widths[at] as number)
      }
    }
    const none: Contexts = { rows: [], weights: [] }
    const callers = middle === null ? [] : this.#namesAbove(middle.row, middle.callers)
    const callees = middle === null ? [] : this.#namesDownTo(middle)
    const all = middle === null ? none : this.#contexts(names[middle.row] as number, callers)
    const through = middle === null ? this.#selves() : this.#into(all, callees)
    this.#above = new Half(names, through, middle !== null, above, budget)
    this.#below = new Half(names, middle === null ? none : all, true, below, budget)
    const caller = this.#above.find(callers)
    this.narrowedAbove = caller === 0 ? 0 : 2 * caller - 1
    this.narrowedBelow = 2 * this.#below.find(callees)
  }

  get isCut(): boolean {
    return this.#above.isCut || this.#below.isCut
  }

  width(box: number): number {
    return box === 0 && this.middle !== null ? (this.#below.at(0)?.width ?? 0) : (this.#at(box)?.width ?? 0)
  }

  row(box: number): number {
    return this.#rowOf(this.#at(box)?.rows[0] ?? 0)
  }

  rows(box: number): readonly number[] {
    return (this.#at(box)?.rows ?? []).map((each) => this.#rowOf(each))
  }

  parent(box: number): number {
    const parent = this.#at(box)?.parent ?? -1
    return parent <= 0 ? parent : isAbove(box) ? 2 * parent - 1 : 2 * parent
  }

  depth(box: number): number {
    const depth = this.#at(box)?.depth ?? 0
    return isAbove(box) ? -depth : depth
  }

  children(box: number): ArrayLike<number> {
    return isAbove(box) ? [] : this.#below.children(box / 2).map((each) => 2 * each)
  }

  callers(box: number): ArrayLike<number> {
    if (box > 0 && !isAbove(box)) return []
    return this.#above.children(box === 0 ? 0 : (box + 1) / 2).map((each) => 2 * each - 1)
  }

  refresh(): void {
    this.#above.refresh()
    this.#below.refresh()
  }

  /** A context of the name in the middle, or without one of the name at the first level, that this caller called. */
  called(box: number): number {
    let place = this.#at(box)?.rows[0] ?? 0
    const last = this.middle === null ? -1 : 0
    for (let at = this.parent(box); at >= 0 && this.depth(at) <= last; at = this.parent(at)) {
      place = this.#at(at)?.rows.find((each) => this.shape.parents[each] === place) ?? place
    }
    return this.#rowOf(place)
  }

  /** The context at a place of the shape. */
  #rowOf(place: number): number {
    return this.shape.rows?.(place)[0] ?? place
  }

  #at(box: number): ReturnType<Half["at"]> {
    return box === 0 || isAbove(box) ? this.#above.at(box === 0 ? 0 : (box + 1) / 2) : this.#below.at(box / 2)
  }

  /** What each context has by itself, where it has something. */
  #selves(): Contexts {
    const self = selfOf(this.shape, this.widths)
    const rows: number[] = []
    for (let row = 1; row < this.shape.size; row++) if ((self[row] as number) > 0) rows.push(row)
    return { rows, weights: rows.map((row) => self[row] as number) }
  }

  /** The contexts of a name with these callers. Those inside another of that name are counted there. */
  #contexts(name: number, callers: readonly number[]): Contexts {
    const rows: number[] = []
    for (let row = 1; row < this.shape.size; ) {
      const isOne = this.names[row] === name
      if (isOne && (this.widths[row] as number) > 0 && this.#isCalledBy(row, callers)) rows.push(row)
      row = isOne ? (this.shape.ends[row] as number) : row + 1
    }
    return { rows, weights: rows.map((row) => this.widths[row] as number) }
  }

  #isCalledBy(row: number, callers: readonly number[]): boolean {
    let at = row
    return callers.every((name) => {
      at = this.shape.parents[at] as number
      return at > 0 && this.names[at] === name
    })
  }

  /** How much of each context went down these names; those without any are left out. */
  #into(contexts: Contexts, callees: readonly number[]): Contexts {
    const found: Contexts = { rows: [], weights: [] }
    for (const row of contexts.rows) {
      let reached = [row]
      for (const name of callees) reached = reached.flatMap((each) => this.#childrenOf(each, name))
      const weight = reached.reduce((sum, each) => sum + (this.widths[each] as number), 0)
      if (weight <= 0) continue
      found.rows.push(row)
      found.weights.push(weight)
    }
    return found
  }

  #childrenOf(row: number, name: number): number[] {
    const found: number[] = []
    const { ends } = this.shape
    for (let at = row + 1; at < (ends[row] as number); at = ends[at] as number) if (this.names[at] === name) found.push(at)
    return found
  }

  #namesAbove(row: number, most: number): number[] {
    const found: number[] = []
    for (let at = this.shape.parents[row] as number; at > 0 && found.length < most; at = this.shape.parents[at] as number) {
      found.push(this.names[at] as number)
    }
    return found
  }

  /** The names from below the middle down to its callee. */
  #namesDownTo({ row, callee }: Middle): number[] {
    const path: number[] = []
    let length = 0
    for (let at = callee; at > 0 && at < this.shape.size; at = this.shape.parents[at] as number) {
      if (this.names[at] === this.names[row]) length = path.length
      path.push(this.names[at] as number)
    }
    return path.slice(0, length).reverse()
  }
}

/** Whether a box of a sandwich is a caller. */
function isAbove(box: number): boolean {
  return box % 2 === 1
}
