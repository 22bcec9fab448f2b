/** `Page` and `Profile`: what views read. Columns are read once, sums are made when asked for. */
import type { FrameKind, LaunchShape, MetricColumns, MetricKind, PageData, Place, ProfileParts } from "./schema"
import { type Column, type Container, damaged } from "./unpack"

export const TIME_NS = "time (ns)"
/** Before the name of a kernel: the call that launched it. */
export const LAUNCH = "launch "
export const NUM_SAMPLES = "num_samples"

/** How the runs of a kernel in one context spread, and how it was launched; NaN: not known. */
export interface Runs {
  min: number
  p50: number
  p99: number
  max: number
  launch: LaunchShape
}

/** One profile: rows of contexts in depth-first order, row 0 the root; NaN is not measured. */
export class Profile {
  readonly size: number
  readonly parents: Column
  /** One past the last row of each row's subtree. */
  readonly ends: Int32Array
  readonly depths: Int32Array
  /** Metrics that can be summed and drawn, the time first. */
  readonly metrics: readonly string[]
  readonly #frames: Column
  readonly #measured: ReadonlyMap<string, MetricColumns>
  readonly #totals = new Map<string, Float64Array>()
  readonly #own = new Map<string, Float64Array>()
  #rowsByName: Map<string, number[]> | null = null
  #placeOfRuns: Map<number, number> | null = null
  #withTuning: Profile | null = null

  constructor(
    /** What Python computed of the profile. */
    readonly parts: ProfileParts,
    /** A binary column that a part names. */
    readonly column: (id: string) => Column,
    /** Whether what autotuning ran is counted; else its rows are empty. */
    readonly countsTuning = false,
  ) {
    const { tree } = parts
    this.parents = column(tree.parent)
    this.#frames = column(tree.frame)
    this.size = this.parents.length
    if (this.size === 0 || this.#frames.length !== this.size) throw damaged()
    this.ends = new Int32Array(this.size)
    this.depths = new Int32Array(this.size)
    for (let row = this.size - 1; row >= 0; row--) {
      const end = Math.max(this.ends[row] as number, row + 1)
      this.ends[row] = end
      const parent = this.parents[row] as number
      if (parent >= 0 && end > (this.ends[parent] as number)) this.ends[parent] = end
    }
    for (let row = 1; row < this.size; row++) {
      this.depths[row] = (this.depths[this.parents[row] as number] as number) + 1
    }
    this.#measured = new Map(tree.metrics.map((each) => [each.name, each]))
    this.metrics = [...this.#measured.keys()]
  }

  /** The same profile with what autotuning ran; itself where nothing was left out. */
  withTuning(): Profile {
    const { tuning } = this.parts
    if (!tuning || this.countsTuning) return this
    const { summary, kernels, roofline } = tuning
    this.#withTuning ??= new Profile({ ...this.parts, summary, kernels, roofline }, this.column, true)
    return this.#withTuning
  }

  /** Stretches of rows that count as empty: the first, and one past the last. */
  #hidden(): readonly (readonly [number, number])[] {
    return this.countsTuning ? [] : (this.parts.tuning?.rows ?? [])
  }

  get source(): string {
    return this.parts.source
  }

  /** The name as the file has it. */
  rawName(row: number): string {
    return this.parts.tree.names[this.#frames[row] as number] ?? ""
  }

  /** The name as people read it; where rows beside it have the same, with the device that it ran on. */
  name(row: number): string {
    return this.shown(this.rawName(row)) + this.mark(row)
  }

  /** The same with all that belongs to the name. */
  wholeName(row: number): string {
    return this.whole(this.rawName(row)) + this.mark(row)
  }

  /** ` (GPU 1)` behind the name of a row whose neighbours of that name ran elsewhere; else nothing. */
  mark(row: number): string {
    const { marks } = this.parts.tree
    return Object.hasOwn(marks, row) ? ` ${marks[row]}` : ""
  }

  /** A name of the file as people read it: demangled and shortened, harmless characters only. */
  shown(raw: string): string {
    return this.#readable(raw, 0)
  }

  /** The same with all its template arguments. */
  whole(raw: string): string {
    return this.#readable(raw, 1)
  }

  /** Calls that launch a kernel are called after it, and read as it does. */
  #readable(raw: string, at: 0 | 1): string {
    const { names } = this.parts
    if (Object.hasOwn(names, raw)) return names[raw]?.[at] ?? raw
    const kernel = raw.startsWith(LAUNCH) ? raw.slice(LAUNCH.length) : ""
    return Object.hasOwn(names, kernel) ? LAUNCH + (names[kernel]?.[at] ?? kernel) : raw
  }

  kind(row: number): FrameKind {
    return (this.parts.tree.kinds[this.#frames[row] as number] ?? "s") as FrameKind
  }

  /** Where a Python frame or a sampled line is in the source; null for other rows. */
  place(row: number): Place | null {
    return this.parts.tree.places[this.#frames[row] as number] ?? null
  }

  isWork(row: number): boolean {
    const kind = this.kind(row)
    return kind === "k" || kind === "c"
  }

  /** Rows from below the root down to `row`. */
  path(row: number): number[] {
    const rows: number[] = []
    for (let at = row; at > 0; at = this.parents[at] as number) rows.push(at)
    return rows.reverse()
  }

  children(row: number): number[] {
    const rows: number[] = []
    for (let at = row + 1; at < (this.ends[row] as number); at = this.ends[at] as number) rows.push(at)
    return rows
  }

  /** Every row whose name in the file is `raw` and that is a kernel or copy. */
  rowsOfKernel(raw: string): readonly number[] {
    if (this.#rowsByName === null) {
      this.#rowsByName = new Map()
      const hidden = this.#hidden()
      for (let row = 1; row < this.size; row++) {
        if (!this.isWork(row) || hidden.some(([first, end]) => row >= first && row < end)) continue
        const name = this.rawName(row)
        const rows = this.#rowsByName.get(name)
        if (rows === undefined) this.#rowsByName.set(name, [row])
        else rows.push(row)
      }
    }
    return this.#rowsByName.get(raw) ?? []
  }

  metricKind(metric: string): MetricKind {
    return this.#measured.get(metric)?.kind ?? "inclusive"
  }

  /** `metric` of every row alone; NaN where it was not measured. */
  own(metric: string): Float64Array {
    let values = this.#own.get(metric)
    if (values === undefined) {
      values = new Float64Array(this.size).fill(Number.NaN)
      const measured = this.#measured.get(metric)
      if (measured !== undefined) {
        const [rows, numbers] = [this.column(measured.rows), this.column(measured.values)]
        for (let at = 0; at < rows.length; at++) values[rows[at] as number] = numbers[at] as number
        for (const [first, end] of this.#hidden()) values.fill(Number.NaN, first, end)
      }
      this.#own.set(metric, values)
    }
    return values
  }

  /** `metric` of every row and all below it; NaN where nothing below measured it. */
  totals(metric: string): Float64Array {
    let totals = this.#totals.get(metric)
    if (totals === undefined) {
      totals = this.own(metric).slice()
      for (let row = this.size - 1; row > 0; row--) {
        const value = totals[row] as number
        if (Number.isNaN(value)) continue
        const parent = this.parents[row] as number
        const above = totals[parent] as number
        totals[parent] = Number.isNaN(above) ? value : above + value
      }
      this.#totals.set(metric, totals)
    }
    return totals
  }

  /** What a row shows of `metric`: an inclusive one with all below it, others of the row alone. */
  value(metric: string, row: number): number {
    const values = this.metricKind(metric) === "inclusive" ? this.totals(metric) : this.own(metric)
    return values[row] ?? Number.NaN
  }

  /** How the runs of the kernel of a row spread; null where it has none. */
  runs(row: number): Runs | null {
    const { runs, launches } = this.parts.tree
    this.#placeOfRuns ??= new Map(Array.from(this.column(runs.rows), (each, at) => [each, at]))
    const at = this.#placeOfRuns.get(row)
    if (at === undefined) return null
    const read = (id: string): number => this.column(id)[at] as number
    const launch = launches[read(runs.launch)]
    if (launch === undefined) throw damaged()
    return { min: read(runs.min_ns), p50: read(runs.p50_ns), p99: read(runs.p99_ns), max: read(runs.max_ns), launch }
  }
}

/** All that a page was given. */
export class Page {
  constructor(
    readonly profiles: readonly Profile[],
    readonly madeBy: string,
    /** The second of two profiles against the first. */
    readonly diff: PageData["diff"],
  ) {}
}

/** The container's content as the page's model; PageError where its parts do not fit. */
export function buildPage({ page, column }: Container): Page {
  return new Page(page.profiles.map((each) => new Profile(each, column)), page.made_by, page.diff)
}
