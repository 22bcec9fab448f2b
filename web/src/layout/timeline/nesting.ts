/** Tracks of a timeline: rows of spans that do not overlap, and what of them a width of pixels shows.
 *
 * Level of detail: spans narrower than a pixel are not walked but skipped by search from pixel to
 * pixel, and prefix sums tell exactly how busy each such pixel is. A frame therefore costs as much
 * as it has pixels, however many spans lie behind them.
 */
import type { Intervals } from "./spans"
import { firstAtLeast } from "./spans"

/** Rows that a lane may have; spans that would need more share the last. */
export const MAX_DEPTH = 64
const HIDDEN = 255 // in place of a depth
/** A span at least so many pixels wide is drawn by itself; narrower ones share columns. */
export const BOX_PIXELS = 1

/** One row. `spans[i]` is the place of the i-th in the trace; `busy[i]` the time of those before it. */
export interface Track extends Intervals {
  spans: Uint32Array
  busy: Float64Array
}

/** The tracks of the spans from `from` up to `to`, which are by start, the longer first: depth 0 is
 * on top, and what runs inside of a span or overlaps it stands below it. Spans that are hidden have no place. */
export function tracksOf(times: Intervals, from: number, to: number, isHidden: (span: number) => boolean = () => false): Track[] {
  const depths = new Uint8Array(to - from)
  const counts: number[] = []
  const free: number[] = [] // by depth: when the last span there ends
  for (let at = from; at < to; at++) {
    const start = times.starts[at] as number
    if (isHidden(at)) {
      depths[at - from] = HIDDEN
      continue
    }
    let depth = 0
    while (depth < free.length && (free[depth] as number) > start) depth++
    if (depth >= MAX_DEPTH) depth = MAX_DEPTH - 1
    free[depth] = times.ends[at] as number
    counts[depth] = (counts[depth] ?? 0) + 1
    depths[at - from] = depth
  }
  const lists = counts.map((count) => new Uint32Array(count))
  const filled = counts.map(() => 0)
  for (let at = from; at < to; at++) {
    const depth = depths[at - from] as number
    if (depth === HIDDEN) continue
    const place = filled[depth] as number
    ;(lists[depth] as Uint32Array)[place] = at
    filled[depth] = place + 1
  }
  return lists.map((spans) => trackOf(times, spans))
}

/** One track of these spans, which are by start. */
export function trackOf(times: Intervals, spans: Uint32Array): Track {
  const starts = new Float64Array(spans.length)
  const ends = new Float64Array(spans.length)
  const busy = new Float64Array(spans.length + 1)
  let latest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < spans.length; at++) {
    const span = spans[at] as number
    const start = times.starts[span] as number
    starts[at] = start
    // Ends must not fall, or searching them fails: only the row past MAX_DEPTH has overlaps.
    latest = ends[at] = Math.max(latest, times.ends[span] as number)
    busy[at + 1] = (busy[at] as number) + (latest - start)
  }
  return { spans, starts, ends, busy }
}

/** One track for several: times in which any of them has a span; `spans` is the first of each. */
export function unionOf(tracks: readonly Track[]): Track {
  if (tracks.length === 1) return tracks[0] as Track
  if (tracks.length === 0) return trackOf({ starts: new Float64Array(0), ends: new Float64Array(0) }, new Uint32Array(0))
  const half = tracks.length >> 1
  return unionOfTwo(unionOf(tracks.slice(0, half)), unionOf(tracks.slice(half)))
}

function unionOfTwo(first: Track, second: Track): Track {
  const most = first.spans.length + second.spans.length
  const [spans, starts, ends] = [new Uint32Array(most), new Float64Array(most), new Float64Array(most)]
  let [at, other, count] = [0, 0, 0]
  for (let taken = 0; taken < most; taken++) {
    const isFirst = other >= second.spans.length || (first.starts[at] as number) <= (second.starts[other] as number)
    const [from, place] = isFirst ? [first, at++] : [second, other++]
    const [start, end] = [from.starts[place] as number, from.ends[place] as number]
    if (count > 0 && start <= (ends[count - 1] as number)) {
      ends[count - 1] = Math.max(ends[count - 1] as number, end)
    } else {
      spans[count] = from.spans[place] as number
      starts[count] = start
      ends[count] = end
      count++
    }
  }
  const busy = new Float64Array(count + 1)
  for (let one = 0; one < count; one++) busy[one + 1] = (busy[one] as number) + (ends[one] as number) - (starts[one] as number)
  return { spans: spans.slice(0, count), starts: starts.slice(0, count), ends: ends.slice(0, count), busy }
}

/** The window of time that is shown, and its width in pixels. */
export interface Window {
  from: number
  to: number
  width: number
}

export interface Sink {
  /** A span that is wide enough; its place in the track. */
  box(at: number, left: number, right: number): void
  /** One pixel with the spans from `at` up to `end`, each too narrow to be seen. */
  pixel(x: number, at: number, end: number): void
}

/** Give `sink` what a window shows of a track: at most a few calls for each pixel. */
export function walk(track: Intervals, window: Window, sink: Sink): void {
  const { starts, ends } = track
  const scale = (window.to - window.from) / window.width
  let at = firstPast(ends, window.from)
  while (at < starts.length) {
    const start = starts[at] as number
    if (start >= window.to) return
    const end = ends[at] as number
    if (end - start >= BOX_PIXELS * scale) {
      sink.box(at, (start - window.from) / scale, (end - window.from) / scale)
      at++
      continue
    }
    const x = Math.max(0, Math.floor((start - window.from) / scale))
    const limit = window.from + (x + 1) * scale
    let next = gallop(starts, limit, at + 1)
    const last = next - 1 // the only one that may reach beyond this pixel
    if (last > at && (ends[last] as number) - (starts[last] as number) >= BOX_PIXELS * scale) next = last
    sink.pixel(x, at, next)
    at = next
  }
}

/** The first place in a sorted array whose value lies past `value`. */
export function firstPast(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** `firstAtLeast` for answers that lie near `from`: cost grows with the distance's logarithm. */
function gallop(sorted: Float64Array, value: number, from: number): number {
  let [low, high, step] = [from, from, 1]
  while (high < sorted.length && (sorted[high] as number) < value) {
    low = high + 1
    high += step
    step *= 2
  }
  return firstAtLeast(sorted, value, low, Math.min(high, sorted.length))
}

/** The place in a track of the span at `time`; -1 where there is none. `slack` widens narrow ones. */
export function placeAt(track: Intervals, time: number, slack: number): number {
  const at = firstPast(track.ends, time)
  if (at < track.starts.length && (track.starts[at] as number) <= time) return at
  const before = at > 0 ? time - (track.ends[at - 1] as number) : Number.POSITIVE_INFINITY
  const after = at < track.starts.length ? (track.starts[at] as number) - time : Number.POSITIVE_INFINITY
  if (Math.min(before, after) > slack) return -1
  return before <= after ? at - 1 : at
}

/** So that marked spans without any duration count too; far below what is seen. */
const TINY_NS = 1e-3

/** The time of marked spans before each place of a track, by look: tells at once how much of
 * i..j is marked, and whether anything is. */
export function markSums(track: Track, look: ArrayLike<number>, marked: Uint8Array): Float64Array {
  const sums = new Float64Array(track.spans.length + 1)
  let sum = 0
  for (let at = 0; at < track.spans.length; at++) {
    if (marked[look[track.spans[at] as number] as number] === 1) {
      sum += (track.ends[at] as number) - (track.starts[at] as number) + TINY_NS
    }
    sums[at + 1] = sum
  }
  return sums
}
