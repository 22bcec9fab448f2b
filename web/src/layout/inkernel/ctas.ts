/** Where the CTAs of a launch stand: rows are multiprocessors, and in a row CTAs that ran at once are above
 * each other. Pure geometry; what is drawn of many boxes is decided here too.
 */
import type { Range } from "../axis"

type Numbers = ArrayLike<number>

/** CTAs of one row and slot, by start: `order[first]` up to `order[last]`. */
export interface Lane {
  row: number
  slot: number
  first: number
  last: number
}

export interface PackedCtas {
  /** Times of each CTA, by start. */
  start: Numbers
  duration: Numbers
  /** Numbers of multiprocessors, one a row. */
  sms: number[]
  /** CTAs that ran at once on a multiprocessor, at most. */
  slots: number
  lanes: Lane[]
  /** CTAs by lane and start. */
  order: Uint32Array
  /** Row and slot of each CTA, and how many ran before it there. */
  row: Uint16Array
  slot: Uint16Array
  wave: Uint32Array
}

/** How much of the shorter one two CTAs may overlap and still follow each other: the last warps of one end while
 * the first of the next begin.
 */
export const SLACK = 0.05

/** Put every CTA into the first slot of its multiprocessor that is free. `start` is sorted. */
export function packCtas(sm: Numbers, start: Numbers, duration: Numbers): PackedCtas {
  const count = sm.length
  const sms = [...new Set(Array.from(sm))].sort((a, b) => a - b)
  const rows = new Map(sms.map((number, row) => [number, row]))
  const [row, slot, wave] = [new Uint16Array(count), new Uint16Array(count), new Uint32Array(count)]
  const ends: number[][] = sms.map(() => [])
  const members: number[][][] = sms.map(() => [])
  let slots = 1
  for (let cta = 0; cta < count; cta++) {
    const at = rows.get(sm[cta] as number) as number
    const free = ends[at] as number[]
    const [begin, length] = [start[cta] as number, duration[cta] as number]
    const lanes = members[at] as number[][]
    let chosen = free.findIndex((end, place) => {
      const before = duration[lanes[place]?.at(-1) ?? cta] as number
      return end <= begin + SLACK * Math.min(before, length)
    })
    if (chosen < 0) chosen = free.length
    free[chosen] = begin + length
    const lane = (lanes[chosen] ??= [])
    row[cta] = at
    slot[cta] = chosen
    wave[cta] = lane.length
    lane.push(cta)
    slots = Math.max(slots, chosen + 1)
  }
  const order = new Uint32Array(count)
  const lanes: Lane[] = []
  let next = 0
  members.forEach((of, at) => {
    of.forEach((lane, place) => {
      order.set(lane, next)
      lanes.push({ row: at, slot: place, first: next, last: next + lane.length })
      next += lane.length
    })
  })
  return { start, duration, sms, slots, lanes, order, row, slot, wave }
}

/** A box that is drawn: one CTA, or `count` of them that are too small to be told apart. */
export interface Box {
  /** The first of them. */
  cta: number
  start: number
  end: number
  count: number
  /** How much of the box is covered, 0 to 1. */
  filled: number
}

/** The boxes of a lane between two times; those narrower than `least` are put together. */
export function boxesOf(packed: PackedCtas, lane: Lane, [from, to]: Range, least: number): Box[] {
  const boxes: Box[] = []
  const { order, start, duration } = packed
  let at = firstEndingAfter(packed, lane, from)
  let run: Box | null = null
  let covered = 0
  const close = (): void => {
    if (run === null) return
    run.filled = Math.min(1, covered / Math.max(run.end - run.start, 1e-9))
    boxes.push(run)
    run = null
  }
  for (; at < lane.last; at++) {
    const cta = order[at] as number
    const begin = start[cta] as number
    if (begin > to) break
    const length = duration[cta] as number
    if (length >= least) {
      close()
      boxes.push({ cta, start: begin, end: begin + length, count: 1, filled: 1 })
      continue
    }
    const current = run as Box | null
    // A run that is wide enough to be seen ends where a gap can be seen.
    if (current !== null && begin - current.end < least) {
      current.end = begin + length
      current.count++
      covered += length
    } else {
      close()
      run = { cta, start: begin, end: begin + length, count: 1, filled: 1 }
      covered = length
    }
  }
  close()
  return boxes
}

function firstEndingAfter({ order, start, duration }: PackedCtas, lane: Lane, time: number): number {
  let [low, high] = [lane.first, lane.last]
  while (low < high) {
    const middle = (low + high) >> 1
    const cta = order[middle] as number
    if ((start[cta] as number) + (duration[cta] as number) < time) low = middle + 1
    else high = middle
  }
  return low
}

/** The CTA of a row at a time; -1 where there is none. `slot` -1: of any slot, the latest. */
export function ctaAt(packed: PackedCtas, where: { row: number; slot: number; time: number; slack: number }): number {
  const { start, duration } = packed
  let best = -1
  let nearest = Number.POSITIVE_INFINITY
  for (const lane of packed.lanes) {
    if (lane.row !== where.row || (where.slot >= 0 && lane.slot !== where.slot)) continue
    let at = firstEndingAfter(packed, lane, where.time - where.slack)
    for (; at < lane.last; at++) {
      const cta = packed.order[at] as number
      const begin = start[cta] as number
      const distance = Math.max(begin - where.time, where.time - begin - (duration[cta] as number), 0)
      if (begin > where.time + where.slack) break
      if (distance < nearest) [best, nearest] = [cta, distance]
    }
  }
  return nearest <= where.slack ? best : -1
}

export type Direction = "Left" | "Right" | "Up" | "Down"

/** The CTA before or after one in its place, or the nearest in time on the next multiprocessor; -1 at the ends. */
export function neighbourOf(packed: PackedCtas, cta: number, to: Direction): number {
  const row = packed.row[cta] as number
  if (to === "Left" || to === "Right") {
    const lane = packed.lanes.find((each) => each.row === row && each.slot === packed.slot[cta])
    if (lane === undefined) return -1
    const at = packed.order.indexOf(cta, lane.first) + (to === "Left" ? -1 : 1)
    return at < lane.first || at >= lane.last ? -1 : (packed.order[at] as number)
  }
  const time = (packed.start[cta] as number) + (packed.duration[cta] as number) / 2
  const next = row + (to === "Up" ? -1 : 1)
  return ctaAt(packed, { row: next, slot: -1, time, slack: Number.POSITIVE_INFINITY })
}

/** How many CTAs ran on average in each of `parts` equal parts of the time from `from` to `to`. */
export function activeOver(start: Numbers, duration: Numbers, [from, to]: Range, parts: number): Float64Array {
  const steps = new Float64Array(parts + 2)
  const length = (to - from) / parts
  if (!(length > 0)) return steps.subarray(0, 0)
  const step = (time: number, sign: number): void => {
    const at = Math.min(Math.max((time - from) / length, 0), parts)
    const part = Math.floor(at)
    steps[part] = (steps[part] as number) + sign * (part + 1 - at)
    steps[part + 1] = (steps[part + 1] as number) + sign * (at - part)
  }
  for (let cta = 0; cta < start.length; cta++) {
    step(start[cta] as number, 1)
    step((start[cta] as number) + (duration[cta] as number), -1)
  }
  for (let part = 1; part < parts; part++) steps[part] = (steps[part] as number) + (steps[part - 1] as number)
  return steps.subarray(0, parts)
}

/** Row by row, `columns` pixels each. */
export interface CtaImage {
  rows: number
  columns: number
  /** CTAs that ran, on average over the pixel. */
  covered: Float32Array
  /** Their value, times how much each covers. */
  value: Float32Array
}

/** What the rows look like between two times; `valueOf` is what a CTA is coloured by, 0 to 1. */
export function imageOf(packed: PackedCtas, [from, to]: Range, columns: number, valueOf: (cta: number) => number): CtaImage {
  const { start, duration } = packed
  const rows = packed.sms.length
  const covered = new Float32Array(rows * columns)
  const value = new Float32Array(rows * columns)
  const scale = columns / (to - from)
  for (let cta = 0; cta < start.length; cta++) {
    const begin = start[cta] as number
    if (begin >= to) break // they are sorted
    const right = Math.min((begin + (duration[cta] as number) - from) * scale, columns)
    if (right <= 0) continue
    const left = Math.max((begin - from) * scale, 0)
    const weight = valueOf(cta)
    const base = (packed.row[cta] as number) * columns
    const last = Math.min(Math.ceil(right), columns) - 1
    for (let pixel = Math.floor(left); pixel <= last; pixel++) {
      const part = Math.min(right, pixel + 1) - Math.max(left, pixel)
      covered[base + pixel] = (covered[base + pixel] as number) + part
      value[base + pixel] = (value[base + pixel] as number) + part * weight
    }
  }
  return { rows, columns, covered, value }
}

/** CTAs that ran in each column, all rows together. */
export function sumOfRows({ rows, columns, covered }: CtaImage): Float64Array {
  const sums = new Float64Array(columns)
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at++) sums[column] = (sums[column] as number) + (covered[at] as number)
  }
  return sums
}
