/** Profiles and pages for tests, written as rows of depth, name and metrics. */
import { Page, Profile } from "./model"
import type { MetricKind, Place, ProfileParts } from "./schema"
import type { Column } from "./unpack"

export type Row = readonly [depth: number, name: string, metrics?: Readonly<Record<string, number>>, letter?: string]

interface More {
  kinds?: Readonly<Record<string, MetricKind>>
  places?: Record<string, Place>
  /** The device of a row, where rows beside it have its name. */
  marks?: Record<string, string>
  parts?: Partial<ProfileParts>
  /** The group of each row and titles of groups, where several rows are one. */
  folds?: [group: readonly number[], titles: Record<string, string>]
  /** The group of each row where frames of libraries are hidden. */
  library?: readonly number[]
}

/** A profile with these contexts, row 0 the root; a row with a time is a kernel. */
export function profileOf(rows: readonly Row[], { kinds = {}, places = {}, marks = {}, parts = {}, folds, library }: More = {}): Profile {
  const columns: Record<string, Column> = {}
  const path: number[] = []
  const parents = rows.map(([depth], row) => {
    path.length = depth
    const parent = path.at(-1) ?? -1
    path.push(row)
    return parent
  })
  columns["frame"] = Uint32Array.from(rows, (_, row) => row)
  columns["parent"] = Int32Array.from(parents)
  const names = [...new Set(rows.flatMap(([, , metrics]) => Object.keys(metrics ?? {})))]
  const metrics = names.map((name) => {
    const having = rows.flatMap(([, , values], row) => (values !== undefined && Object.hasOwn(values, name) ? [row] : []))
    columns[`rows of ${name}`] = Uint32Array.from(having)
    columns[`values of ${name}`] = Float64Array.from(having, (row) => rows[row]?.[2]?.[name] as number)
    return { name, kind: Object.hasOwn(kinds, name) ? (kinds[name] as MetricKind) : "inclusive", rows: `rows of ${name}`, values: `values of ${name}` } as const
  })
  const letters = rows.map(([depth, , own, letter]) => letter ?? (depth === 0 ? "r" : own?.["time (ns)"] !== undefined ? "k" : "s"))
  Object.assign(columns, { runs: Uint32Array.of(2), min: Float64Array.of(1), p50: Float64Array.of(2), p99: Float64Array.of(Number.NaN), max: Float64Array.of(4), launch: Uint32Array.of(0) })
  const tree = {
    names: rows.map(([, name]) => name),
    kinds: letters.join(""),
    places,
    frame: "frame",
    parent: "parent",
    marks,
    metrics,
    runs: { rows: "runs", min_ns: "min", p50_ns: "p50", p99_ns: "p99", max_ns: "max", launch: "launch" },
    launches: [{ grid: "4x1x1", block: null, regs: 32, shared: null, occupancy: 0.5 }],
  }
  columns["group"] = Uint32Array.from(folds?.[0] ?? [])
  const folded = folds === undefined ? null : { group: "group", titles: folds[1] }
  columns["kept"] = Uint32Array.from(library ?? [])
  const plain = { group: "kept", titles: {} }
  const hidden = library === undefined ? null : { frames: 1, plain, folded: plain }
  return new Profile({ source: "x", tree, names: {}, folds: folded, library: hidden, ...parts } as ProfileParts, (id) => columns[id] as Column)
}

export function pageOf(...profiles: Profile[]): Page {
  return new Page(profiles, "", null)
}
