/** A trace arranged for drawing: tracks and gaps of each lane, groups, and what is marked in them. */
import { type Timeline, firstAtLeast } from "./spans"
import { type Track, firstPast, markSums, placeAt, trackOf, tracksOf, unionOf } from "./nesting"
import { GapSums } from "./gaps"
import { type Group, type Row, groupsOf } from "./rows"

/** What is under the pointer. */
export type Hit = { kind: "span"; span: number } | { kind: "gap"; of: number | string; at: number } | { kind: "group"; group: string }

/** Marked spans, by look: those of a search, or of the selection. */
export class Marks {
  readonly #sums = new WeakMap<Track, Float64Array>()

  constructor(
    readonly looks: Uint8Array,
    private readonly look: ArrayLike<number>,
  ) {}

  /** The time of the marked spans of a track before each place. */
  sums(track: Track): Float64Array {
    let found = this.#sums.get(track)
    if (found === undefined) this.#sums.set(track, (found = markSums(track, this.look, this.looks)))
    return found
  }
}

export class Chart {
  readonly groups: readonly Group[]
  readonly #tracks: readonly Track[][]
  readonly #gaps = new Map<number | string, GapSums>() // by lane, of devices by group
  readonly #unions = new Map<string, Track>()

  constructor(
    readonly timeline: Timeline,
    /** Whether frames of libraries have no place. */
    readonly hidesLibrary = false,
  ) {
    this.groups = groupsOf(timeline.lanes)
    const isHidden = (span: number): boolean => hidesLibrary && timeline.isLibrary(timeline.look[span] as number)
    this.#tracks = timeline.lanes.map((lane) => tracksOf(timeline, lane.from, lane.to, isHidden))
    const causes = timeline.part.gaps.causes.length
    for (const gaps of timeline.gaps) this.#gaps.set(gaps.lane ?? gaps.group, new GapSums(gaps, causes))
  }

  tracks(lane: number): readonly Track[] {
    return this.#tracks[lane] ?? []
  }

  /** When a stream stood still, or all of a group's device; null for what is neither. */
  gaps(of: number | string): GapSums | null {
    return this.#gaps.get(of) ?? null
  }

  depth(lane: number): number {
    return this.tracks(lane).length
  }

  /** When any lane of a group had something. */
  union(name: string): Track {
    let found = this.#unions.get(name)
    if (found === undefined) {
      const group = this.groups.find((each) => each.name === name)
      const tracks = (group?.lanes ?? []).flatMap((lane) => this.#work(lane))
      this.#unions.set(name, (found = unionOf(tracks)))
    }
    return found
  }

  marks(isMarked: (look: number) => boolean): Marks {
    const looks = new Uint8Array(this.timeline.lookCount)
    for (let look = 0; look < looks.length; look++) looks[look] = isMarked(look) ? 1 : 0
    return new Marks(looks, this.timeline.look)
  }

  /** What lies at a time and a height within a row; narrow spans reach `slack` further. */
  hit(row: Row, y: number, time: number, slack: number): Hit | null {
    if (row.lane === null) return this.#gapAt(row.group, time, slack) ?? { kind: "group", group: row.group }
    const depth = Math.floor((y - row.top) / row.track)
    const track = this.tracks(row.lane)[depth]
    if (track !== undefined) {
      const exact = placeAt(track, time, 0)
      const at = exact >= 0 ? exact : placeAt(track, time, slack)
      if (at >= 0 && (exact >= 0 || depth > 0)) return { kind: "span", span: track.spans[at] as number }
      const gap = depth === 0 ? this.#gapAt(row.lane, time, slack) : null
      if (gap !== null) return gap
      if (at >= 0) return { kind: "span", span: track.spans[at] as number }
    }
    return null
  }

  /** The place of a span in its lane: depth, and its neighbours on that track. */
  placeOf(span: number): { lane: number; depth: number; before: number | null; after: number | null } | null {
    const lane = this.timeline.laneOf(span)
    const tracks = this.tracks(lane)
    for (let depth = 0; depth < tracks.length; depth++) {
      const { spans } = tracks[depth] as Track
      const at = firstAtLeast(spans, span)
      if (spans[at] === span) return { lane, depth, before: spans[at - 1] ?? null, after: spans[at + 1] ?? null }
    }
    return null
  }

  /** The span around another on its lane (`up`), or the first one inside it. */
  nested(span: number, up: boolean): number | null {
    const place = this.placeOf(span)
    const track = place === null ? undefined : this.tracks(place.lane)[place.depth + (up ? -1 : 1)]
    if (track === undefined) return null
    const { starts, ends } = this.timeline
    const at = firstPast(track.ends, starts[span] as number)
    const [outer, inner] = up ? [track.spans[at], span] : [span, track.spans[at]]
    if (outer === undefined || inner === undefined) return null
    const isInside = (starts[outer] as number) <= (starts[inner] as number) && (ends[inner] as number) <= (ends[outer] as number)
    return isInside ? (up ? outer : inner) : null
  }

  /** The marked span that begins next after `time`, or last before it, on whichever lane. */
  nextMarked(marks: Marks, time: number, forward: boolean): number | null {
    let [found, best]: [number | null, number] = [null, forward ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY]
    for (const track of this.#tracks.flat()) {
      const sums = marks.sums(track)
      // Sums only grow where a span is marked, so the place of the next step is the next marked one.
      const from = firstPast(track.starts, time)
      const before = firstAtLeast(track.starts, time)
      const at = forward ? firstPast(sums, sums[from] as number) - 1 : firstAtLeast(sums, sums[before] as number) - 1
      const start = track.starts[at]
      if (start === undefined || (forward ? start >= best : start <= best)) continue
      ;[found, best] = [track.spans[at] ?? null, start]
    }
    return found
  }

  /** The span that a gap of a stream or device ends with. */
  afterGap(of: number | string, at: number): number | null {
    const end = this.#gaps.get(of)?.gaps.ends[at]
    if (end === undefined) return null
    const lanes = typeof of === "number" ? [of] : (this.groups.find((group) => group.name === of)?.lanes ?? [])
    let [found, earliest]: [number | null, number] = [null, Number.POSITIVE_INFINITY]
    for (const track of lanes.flatMap((lane) => this.#work(lane))) {
      const place = firstAtLeast(track.starts, end)
      const start = track.starts[place] ?? Number.POSITIVE_INFINITY
      if (start < earliest) [found, earliest] = [track.spans[place] ?? null, start]
    }
    return found
  }

  /** The outermost spans of a lane, as one track or none. Scopes on a graph lane are no work: they span idle time too. */
  #work(lane: number): readonly Track[] {
    const tracks = this.tracks(lane).slice(0, 1)
    if (this.timeline.lanes[lane]?.kind !== "graph") return tracks
    const replays = tracks.map((track) => track.spans.filter((span) => this.timeline.kind(span) === "graph"))
    return replays.filter((spans) => spans.length > 0).map((spans) => trackOf(this.timeline, spans))
  }

  /** A gap must be wide enough to be meant: beside narrow spans it is not. */
  #gapAt(of: number | string, time: number, slack: number): Hit | null {
    const gaps = this.#gaps.get(of)?.gaps
    if (gaps === undefined) return null
    const at = firstPast(gaps.ends, time)
    const isHere = at < gaps.starts.length && (gaps.starts[at] as number) <= time
    return isHere && (gaps.ends[at] as number) - (gaps.starts[at] as number) > slack ? { kind: "gap", of, at } : null
  }
}
