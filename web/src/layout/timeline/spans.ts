/** The part `trace`, as render/page/trace.py makes it, with its columns decoded. */
import type { Profile } from "../../model"
import type { LanePart, SpanKind, TracePart } from "../../schema"
import type { Column } from "../../unpack"

export type Arguments = TracePart["args"][number]

/** Intervals of one lane, by start. */
export interface Intervals {
  starts: Float64Array
  ends: Float64Array
}

export interface Lane extends LanePart {
  /** Its spans are those from `from` up to `to`. */
  from: number
  to: number
}

export interface Gaps extends Intervals {
  lane: number | null
  group: string
  causes: Uint8Array
  sumsNs: readonly number[]
}

/** A trace: spans lane by lane, each known by its place. */
export class Timeline {
  readonly lanes: readonly Lane[]
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly look: Column
  readonly gaps: readonly Gaps[]
  readonly #lookName: Column
  readonly #lookKind: Column
  readonly #lookRow: Column
  readonly #lookArgs: Column
  readonly #library: ReadonlySet<number>
  #flows: Flows | null = null

  constructor(
    readonly part: TracePart,
    private readonly column: (id: string) => Column,
  ) {
    const lanes: Lane[] = []
    let from = 0
    for (const lane of part.lanes) {
      lanes.push({ ...lane, from, to: from + lane.count })
      from += lane.count
    }
    this.lanes = lanes
    ;[this.starts, this.ends] = times(lanes, column(part.delta_ns), column(part.duration_ns))
    this.look = column(part.look)
    this.#lookName = column(part.looks.name)
    this.#lookKind = column(part.looks.kind)
    this.#lookRow = column(part.looks.row)
    this.#lookArgs = column(part.looks.args)
    this.#library = new Set(part.library)
    this.gaps = gapsOf(part, column)
  }

  get lookCount(): number {
    return this.#lookName.length
  }

  nameOfLook(look: number): string {
    return this.part.names[this.#lookName[look] as number] ?? ""
  }

  /** Whether spans of a look are frames of a library. */
  isLibrary(look: number): boolean {
    return this.#library.has(this.#lookName[look] as number)
  }

  kindOfLook(look: number): SpanKind {
    return this.part.kinds[this.#lookKind[look] as number] ?? "other"
  }

  /** The row of the tree; null for spans that are no context. */
  rowOfLook(look: number): number | null {
    const row = this.#lookRow[look] as number
    return row >= 0 ? row : null
  }

  name(span: number): string {
    return this.nameOfLook(this.look[span] as number)
  }

  kind(span: number): SpanKind {
    return this.kindOfLook(this.look[span] as number)
  }

  row(span: number): number | null {
    return this.has(span) ? this.rowOfLook(this.look[span] as number) : null
  }

  args(span: number): Arguments | null {
    const at = this.#lookArgs[this.look[span] as number] as number
    return at >= 0 ? (this.part.args[at] ?? null) : null
  }

  has(span: number): boolean {
    return span >= 0 && span < this.starts.length
  }

  laneOf(span: number): number {
    return this.lanes.findIndex((lane) => span < lane.to)
  }

  /** What a span launched. */
  launched(span: number): number[] {
    const { sources, targets } = this.#flowTables()
    const found: number[] = []
    for (let at = firstAtLeast(sources, span); sources[at] === span; at++) found.push(targets[at] as number)
    return found
  }

  /** The calls that launched a span; one as a rule. */
  launchedBy(span: number): readonly number[] {
    const { sources, firstOf, nextOf } = this.#flowTables()
    const found: number[] = []
    for (let at = firstOf[span] ?? NONE; at !== NONE; at = nextOf[at] as number) found.push(sources[at] as number)
    return found
  }

  /** The driver's number of a launch and of what it launched, by which other tools find both; null where the trace has none. */
  correlation(span: number): number | null {
    const { sources, firstOf } = this.#flowTables()
    const { correlation } = this.part.flows
    if (correlation === null) return null
    const out = firstAtLeast(sources, span)
    const at = firstOf[span] ?? NONE
    const flow = at !== NONE ? at : sources[out] === span ? out : NONE
    return flow === NONE ? null : (this.column(correlation)[flow] as number) || null
  }

  /** Made when first asked for; flows of one target are a chain, as a rule of one. */
  #flowTables(): Flows {
    if (this.#flows === null) {
      const sources = sums(this.column(this.part.flows.source))
      const targets = sums(this.column(this.part.flows.target))
      const firstOf = new Int32Array(this.starts.length).fill(NONE)
      const nextOf = new Int32Array(targets.length)
      for (let at = targets.length - 1; at >= 0; at--) {
        const target = targets[at] as number
        nextOf[at] = firstOf[target] ?? NONE
        firstOf[target] = at
      }
      this.#flows = { sources, targets, firstOf, nextOf }
    }
    return this.#flows
  }
}

const NONE = -1

/** Flows by source. `firstOf`: span -> first flow that ends there; `nextOf`: flow -> the next such. */
interface Flows {
  sources: Uint32Array
  targets: Uint32Array
  firstOf: Int32Array
  nextOf: Int32Array
}

const made = new WeakMap<Profile, Timeline | null>()

/** The timeline of a profile; null where it was not recorded as a trace. */
export function timelineOf(profile: Profile): Timeline | null {
  let found = made.get(profile)
  if (found === undefined) {
    const part = profile.parts.trace
    made.set(profile, (found = part === null ? null : new Timeline(part, profile.column)))
  }
  return found
}

/** The first place in a sorted array whose value is not below `value`. */
export function firstAtLeast(sorted: Float64Array | Uint32Array, value: number, from = 0, to = sorted.length): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

function times(lanes: readonly { count: number; first_ns: number }[], deltas: Column, durations: Column): [Float64Array, Float64Array] {
  const starts = new Float64Array(deltas.length)
  const ends = new Float64Array(deltas.length)
  let at = 0
  for (const lane of lanes) {
    let time = lane.first_ns
    for (const to = at + lane.count; at < to; at++) {
      time += deltas[at] as number
      starts[at] = time
      ends[at] = time + (durations[at] as number)
    }
  }
  return [starts, ends]
}

function gapsOf(part: TracePart, column: (id: string) => Column): Gaps[] {
  const { gaps } = part
  const [starts, ends] = times(gaps.rows, column(gaps.delta_ns), column(gaps.duration_ns))
  const causes = column(gaps.cause) as Uint8Array
  let from = 0
  return gaps.rows.map((row) => {
    const to = from + row.count
    const found = {
      lane: row.lane,
      group: row.group,
      starts: starts.subarray(from, to),
      ends: ends.subarray(from, to),
      causes: causes.subarray(from, to),
      sumsNs: row.sums_ns,
    }
    from = to
    return found
  })
}

function sums(differences: Column): Uint32Array {
  const found = new Uint32Array(differences.length)
  let sum = 0
  for (let at = 0; at < found.length; at++) found[at] = sum += differences[at] as number
  return found
}
