/** Contexts that are shown as one: siblings that only a number tells apart, and what is below them by name;
 * and frames of libraries with what is above them, for those who hide these.
 *
 * Groups are a tree again, depth first as rows are. What is one is told by the parts `folds` and `library`;
 * nothing here looks at names.
 */
import type { Profile } from "../model"
import type { FoldsPart } from "../schema"
import type { Column } from "../unpack"

/** Contexts in depth-first order. */
export type Shape = Pick<Profile, "size" | "parents" | "ends" | "depths">

/** Groups of rows, by number; 0 is the root's. */
export class Groups implements Shape {
  readonly size: number
  readonly parents: Int32Array
  readonly ends: Int32Array
  readonly depths: Int32Array
  readonly #firsts: Int32Array
  readonly #rows: Int32Array

  /** @param of the group of each row: depth first, parents of rows in the same group or in its parent */
  constructor(
    readonly shape: Pick<Shape, "size" | "parents">,
    readonly of: ArrayLike<number>,
  ) {
    this.size = 1
    for (let row = 0; row < shape.size; row++) this.size = Math.max(this.size, (of[row] as number) + 1)
    this.parents = new Int32Array(this.size).fill(-1)
    this.depths = new Int32Array(this.size)
    this.ends = new Int32Array(this.size)
    this.#firsts = new Int32Array(this.size + 1)
    for (let row = 0; row < shape.size; row++) {
      if (this.isInside(row)) continue
      const group = of[row] as number
      this.#firsts[group + 1] = (this.#firsts[group + 1] as number) + 1
      if (row > 0 && group > 0) this.parents[group] = of[shape.parents[row] as number] as number
    }
    for (let group = 1; group < this.size; group++) {
      this.#firsts[group + 1] = (this.#firsts[group + 1] as number) + (this.#firsts[group] as number)
      this.depths[group] = (this.depths[this.parents[group] as number] as number) + 1
    }
    for (let group = this.size - 1; group >= 0; group--) {
      const end = Math.max(this.ends[group] as number, group + 1)
      this.ends[group] = end
      if (group > 0) this.ends[this.parents[group] as number] = Math.max(this.ends[this.parents[group] as number] as number, end)
    }
    this.#rows = new Int32Array(this.#firsts[this.size] as number)
    const filled = this.#firsts.slice()
    for (let row = 0; row < shape.size; row++) {
      if (this.isInside(row)) continue
      const group = of[row] as number
      this.#rows[filled[group] as number] = row
      filled[group] = (filled[group] as number) + 1
    }
  }

  /** Whether a row is hidden in the group of what is above it. */
  isInside(row: number): boolean {
    return row > 0 && this.of[row] === this.of[this.shape.parents[row] as number]
  }

  /** The contexts of a group, as recorded, without those hidden in it. */
  rows(group: number): Int32Array {
    return this.#rows.subarray(this.#firsts[group] ?? 0, this.#firsts[group + 1] ?? 0)
  }

  /** For every group the sum over its contexts, of which each has what is below it already; NaN is not measured. */
  sums(values: Float64Array): Float64Array {
    const sums = new Float64Array(this.size)
    for (const row of this.#rows) {
      const value = values[row] as number
      if (!Number.isNaN(value)) sums[this.of[row] as number] = (sums[this.of[row] as number] as number) + value
    }
    return sums
  }
}

/** The groups of a profile with their names. */
export class Folds extends Groups {
  constructor(
    profile: Profile,
    group: Column,
    private readonly titles: Readonly<Record<string, string>>,
  ) {
    super(profile, group)
  }

  /** `step_*` where several names are one; null where the name of its contexts says it. */
  title(group: number): string | null {
    return Object.hasOwn(this.titles, group) ? (this.titles[group] ?? null) : null
  }

  /** The groups that stand for several names. */
  get titled(): number[] {
    return Object.keys(this.titles).map(Number)
  }
}

const made = new WeakMap<FoldsPart, Folds>()

/** What a profile shows as one, numbered siblings or with `hidesLibrary` frames of libraries too; null where each context stands by itself. */
export function foldsOf(profile: Profile, { hidesLibrary = false, isUnfolded = false } = {}): Folds | null {
  const { library = null, folds = null } = profile.parts
  const part = hidesLibrary && library !== null ? (isUnfolded ? library.plain : library.folded) : folds
  if (part === null) return null
  let found = made.get(part)
  if (found === undefined) made.set(part, (found = new Folds(profile, profile.column(part.group), part.titles)))
  return found
}

/** How numbers spread. */
export interface Spread {
  count: number
  min: number
  median: number
  p90: number
  max: number
}

/** The spread of some numbers; null without any. Quantiles are numbers that occur, as elsewhere in Proton. */
export function spreadOf(values: ArrayLike<number>): Spread | null {
  const sorted = Float64Array.from(values).filter((value) => !Number.isNaN(value)).sort()
  if (sorted.length === 0) return null
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number
  return { count: sorted.length, min: sorted[0] as number, median: at(0.5), p90: at(0.9), max: sorted[sorted.length - 1] as number }
}
