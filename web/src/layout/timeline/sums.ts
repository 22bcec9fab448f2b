/** What ran in a stretch of time, by name: how often, how long, in which share of it. */
import type { Range } from "../axis"
import type { Chart } from "./chart"
import { firstPast } from "./nesting"
import { type Timeline, firstAtLeast } from "./spans"
import type { SpanKind } from "../../schema"

/** Spans of one name and kind in a range; those that reach beyond it count with the part inside. */
export interface NameSum {
  name: string
  kind: SpanKind
  count: number
  ns: number
  /** The longest of them, by its place in the trace. */
  longest: number
}

/** Sums over all lanes, the largest first. */
export function sumsIn(chart: Chart, [from, to]: Range, lanes: Iterable<number> = chart.timeline.lanes.keys()): NameSum[] {
  const { timeline } = chart
  const found = new Map<string, NameSum>()
  for (const lane of lanes) {
    for (const track of chart.tracks(lane)) {
      const end = firstAtLeast(track.starts, to)
      for (let at = firstPast(track.ends, from); at < end; at++) {
        const ns = Math.min(track.ends[at] as number, to) - Math.max(track.starts[at] as number, from)
        addTo(found, timeline, track.spans[at] as number, ns)
      }
    }
  }
  return [...found.values()].sort((a, b) => b.ns - a.ns)
}

function addTo(found: Map<string, NameSum>, timeline: Timeline, span: number, ns: number): void {
  const [name, kind] = [timeline.name(span), timeline.kind(span)]
  const key = `${kind} ${name}`
  const sum = found.get(key)
  if (sum === undefined) {
    found.set(key, { name, kind, count: 1, ns, longest: span })
    return
  }
  sum.count++
  sum.ns += ns
  const length = (of: number): number => (timeline.ends[of] as number) - (timeline.starts[of] as number)
  if (length(span) > length(sum.longest)) sum.longest = span
}

/** The spans of a range by start, lane by lane, at most `most` of them, and how many there are. */
export function spansIn(chart: Chart, [from, to]: Range, most: number): { spans: number[]; count: number } {
  const spans: number[] = []
  let count = 0
  for (const lane of chart.timeline.lanes.keys()) {
    const before = spans.length
    for (const track of chart.tracks(lane)) {
      const [first, end] = [firstPast(track.ends, from), firstAtLeast(track.starts, to)]
      count += Math.max(0, end - first)
      for (let at = first; at < end && spans.length < most; at++) spans.push(track.spans[at] as number)
    }
    spans.push(...spans.splice(before).sort((a, b) => a - b))
  }
  return { spans, count }
}
