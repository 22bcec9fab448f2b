/** `Page` and `Profile`: what views read. Built once from checked input; columns are made when asked for. */
import { type Column, CPU_TIME_NS, DEVICE_ID, DEVICE_TYPE, type KindLetter, type MetricKind, TIME_NS } from "./format"
import { type Recording, readDocument } from "./read"
import type { Container } from "./unpack"

/** One profile: rows of contexts in depth-first order, row 0 the root; NaN is not measured. */
export class Profile {
  readonly size: number
  readonly parents: Int32Array
  /** One past the last row of each row's subtree. */
  readonly ends: Int32Array
  readonly depths: Int32Array
  /** Metrics that can be summed and drawn, the time first. */
  readonly metrics: readonly string[]
  readonly #totals = new Map<string, Float64Array>()
  readonly #own = new Map<string, Float64Array>()
  readonly #shownNames: Readonly<Record<string, readonly [string, string]>>
  #rowsByName: Map<string, number[]> | null = null

  constructor(
    readonly recording: Recording,
    readonly parts: Readonly<Record<string, unknown>>,
    /** A binary column that a part names. */
    readonly column: (id: string) => Column,
  ) {
    this.parents = recording.parents
    this.size = recording.parents.length
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
    this.metrics = [...recording.metrics.keys()].filter((name) => this.#isShown(name)).sort(byImportance)
    this.#shownNames = this.part<Record<string, [string, string]>>("names") ?? {}
  }

  get source(): string {
    return this.recording.source
  }

  /** What Python computed under this name; null where the profile has nothing for it. */
  part<T>(name: string): T | null {
    return Object.hasOwn(this.parts, name) ? (this.parts[name] as T) : null
  }

  /** The name as the file has it. */
  rawName(row: number): string {
    return this.recording.names[row] ?? ""
  }

  /** The name as people read it. */
  name(row: number): string {
    return this.shown(this.rawName(row))
  }

  /** A name of the file as people read it: demangled and shortened, harmless characters only. */
  shown(raw: string): string {
    return Object.hasOwn(this.#shownNames, raw) ? (this.#shownNames[raw]?.[0] ?? raw) : raw
  }

  /** The same with all its template arguments. */
  whole(raw: string): string {
    return Object.hasOwn(this.#shownNames, raw) ? (this.#shownNames[raw]?.[1] ?? raw) : raw
  }

  kind(row: number): KindLetter {
    return (this.recording.kinds[row] ?? "s") as KindLetter
  }

  isWork(row: number): boolean {
    const kind = this.recording.kinds[row]
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
      for (let row = 1; row < this.size; row++) {
        if (!this.isWork(row)) continue
        const name = this.rawName(row)
        const rows = this.#rowsByName.get(name)
        if (rows === undefined) this.#rowsByName.set(name, [row])
        else rows.push(row)
      }
    }
    return this.#rowsByName.get(raw) ?? []
  }

  metricKind(metric: string): MetricKind {
    const computed = this.part<{ metric_kinds: Record<string, MetricKind> }>("summary")?.metric_kinds ?? {}
    if (Object.hasOwn(computed, metric)) return computed[metric] as MetricKind
    return this.recording.metricKinds[metric] ?? (metric === CPU_TIME_NS ? "exclusive" : "inclusive")
  }

  /** `metric` of every row alone; NaN where it was not measured. */
  own(metric: string): Float64Array {
    let values = this.#own.get(metric)
    if (values === undefined) {
      values = new Float64Array(this.size).fill(Number.NaN)
      const measured = this.recording.metrics.get(metric)
      if (measured !== undefined) {
        const { rows, values: numbers } = measured
        for (let at = 0; at < rows.length; at++) values[rows[at] as number] = numbers[at] as number
        // The root's zero only says that the metric is inclusive.
        if (values[0] === 0) values[0] = Number.NaN
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

  label(metric: string, row: number): string | null {
    return this.recording.labels.get(metric)?.get(row) ?? null
  }

  #isShown(metric: string): boolean {
    if (metric === DEVICE_ID || metric === DEVICE_TYPE) return false
    const measured = this.recording.metrics.get(metric)
    return measured !== undefined && (measured.values.length > 1 || measured.rows[0] !== 0 || measured.values[0] !== 0)
  }
}

/** All that a page was given. */
export class Page {
  constructor(
    readonly profiles: readonly Profile[],
    readonly madeBy: string,
    /** What Python computed of two profiles, the second against the first. */
    readonly diff: unknown,
    readonly column: (id: string) => Column,
  ) {}
}

/** The container's content as the page's model; FormatError where a document is not a profile. */
export function buildPage(container: Container): Page {
  const { page, column } = container
  const profiles = page.profiles.map(
    (each) => new Profile(readDocument(each.document, each.source), each.parts ?? {}, column),
  )
  return new Page(profiles, page.made_by, page.diff ?? null, column)
}

function byImportance(first: string, second: string): number {
  return rank(first) - rank(second)
}

function rank(metric: string): number {
  const known = [TIME_NS, CPU_TIME_NS, "count", "flops", "bytes"].indexOf(metric)
  return known < 0 ? 9 : known
}
