/** Where roofs, dots and ticks of a roofline plot lie: both axes are logarithmic.
 *
 * A kernel that declares bytes only has no intensity. It stands on the left edge, as far below the
 * roof as its rate is below that of the memory; one that declares flops only stands on the right.
 */
import type { RoofDevice, RoofDot } from "../schema"

export interface Frame {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
}

export interface Axis {
  low: number
  high: number
  /** Powers of ten inside. */
  ticks: number[]
  at(value: number): number
}

export interface RoofLine {
  label: string
  width: number
  flops: number
  /** Whether some kernel computes in this precision. */
  isUsed: boolean
  /** Whether its name fits above it without lying on another's. */
  isLabelled: boolean
  /** From the ridge to the right edge. */
  x1: number
  x2: number
  y: number
}

export type Edge = "none" | "left" | "right"

export interface PlacedDot {
  index: number
  x: number
  y: number
  radius: number
  edge: Edge
  /** Where the roof is above it; null where it is not known. */
  roofY: number | null
}

export interface Roofline {
  x: Axis
  y: Axis
  roofs: RoofLine[]
  /** The slope of the memory, from the left edge to the highest roof; null where it is not known. */
  memory: { x1: number; y1: number; x2: number; y2: number } | null
  /** Large ones first, so that small ones are drawn above them. */
  dots: PlacedDot[]
  /** Dots that have a place on neither axis. */
  unplaced: number
}

/** Pixels on each side that are for dots on the edge. */
export const EDGE = 24
export const LEAST_RADIUS = 3.5
export const LARGEST_RADIUS = 22

export function layoutRoofline(device: RoofDevice, dots: readonly RoofDot[], frame: Frame): Roofline {
  const bandwidth = device.bytes_per_s
  const used = new Set(dots.map((dot) => dot.width))
  const [x, y] = axesOf(device, dots, frame, used)
  const roofs = device.roofs.map((roof) => ({
    label: roof.label,
    width: roof.width,
    flops: roof.flops_per_s,
    isUsed: used.has(roof.width),
    isLabelled: false,
    x1: bandwidth === null ? frame.left : Math.max(frame.left, x.at(roof.flops_per_s / bandwidth)),
    x2: frame.width - frame.right,
    y: y.at(roof.flops_per_s),
  }))
  const taken: number[] = []
  for (const roof of [...roofs].sort((a, b) => Number(b.isUsed) - Number(a.isUsed))) {
    roof.isLabelled = isShown(roof, frame) && taken.every((y) => Math.abs(y - roof.y) >= LINE)
    if (roof.isLabelled) taken.push(roof.y)
  }
  const longest = dots.reduce((most, dot) => Math.max(most, dot.time_ns), Number.MIN_VALUE)
  const placed: PlacedDot[] = []
  dots.forEach((dot, index) => {
    const spot = spotOf(dot, bandwidth, x)
    if (spot === null) return
    const [intensity, rate, edge] = spot
    const radius = Math.max(LEAST_RADIUS, LARGEST_RADIUS * Math.sqrt(Math.max(0, dot.time_ns / longest)))
    const roof = roofAbove(device, dot, intensity, edge)
    placed.push({ index, x: x.at(intensity), y: y.at(rate), radius, edge, roofY: roof === null ? null : y.at(roof) })
  })
  placed.sort((a, b) => b.radius - a.radius)
  return { x, y, roofs, memory: memoryLine(device, x, y), dots: placed, unplaced: dots.length - placed.length }
}

/** Whether some of a roof is inside the plot. */
export function isShown(roof: RoofLine, frame: Frame): boolean {
  return roof.x1 < roof.x2 && roof.y >= frame.top && roof.y <= frame.height - frame.bottom
}

export interface DotLabel {
  index: number
  text: string
  x: number
  y: number
  anchor: "start" | "end"
}

const MOST_LABELS = 8
const LETTER = 6.2 // pixels of a letter, about
const LINE = 13
const ROOF_LABEL = 150 // pixels of the name of a roof, about

/** Names beside the largest dots, left out where they would lie on each other or on dots. */
export function labelsOf(plot: Roofline, nameOf: (index: number) => string, frame: Frame): DotLabel[] {
  const taken: Box[] = plot.dots.map((dot) => [dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius])
  for (const roof of plot.roofs) if (roof.isLabelled) taken.push([roof.x2 - ROOF_LABEL, roof.y - LINE - 4, roof.x2, roof.y])
  for (const roof of plot.roofs) if (isShown(roof, frame)) taken.push([roof.x1, roof.y - 1, roof.x2, roof.y + 1])
  taken.push(...slopeOf(plot))
  const found: DotLabel[] = []
  plot.dots.forEach((dot, own) => {
    if (found.length === MOST_LABELS) return
    const text = nameOf(dot.index)
    for (const [x, y, anchor] of spotsBeside(dot)) {
      const left = anchor === "start" ? x : x - text.length * LETTER
      const box: Box = [left, y - LINE / 2, left + text.length * LETTER, y + LINE / 2]
      const isInside = box[0] >= frame.left && box[2] <= frame.width - 2 && box[1] >= 0 && box[3] <= frame.height - frame.bottom
      if (!isInside || taken.some((other, at) => at !== own && overlap(box, other))) continue
      taken.push(box)
      found.push({ index: dot.index, text, x, y: y + 4, anchor })
      return
    }
  })
  return found
}

const STEP = 8 // pixels

/** The line of the memory's rate and the words along it, in boxes. */
function slopeOf({ memory }: Roofline): Box[] {
  if (memory === null) return []
  const { x1, y1, x2, y2 } = memory
  const many = Math.ceil(Math.max(x2 - x1, y1 - y2) / STEP)
  const words = [(2 * x1 + x2) / 3 - ROOF_LABEL / 2, (2 * x1 + x2) / 3 + ROOF_LABEL / 2]
  return Array.from({ length: many + 1 }, (_, at): Box => {
    const [x, y] = [x1 + ((x2 - x1) * at) / many, y1 + ((y2 - y1) * at) / many]
    const above = x > (words[0] as number) && x < (words[1] as number) ? LINE + 6 : 2
    return [x - STEP / 2, y - above, x + STEP / 2, y + 2]
  })
}

/** Left, top, right, bottom. */
type Box = [number, number, number, number]

/** Where a name may stand: right, left, below, above. */
function spotsBeside(dot: PlacedDot): [number, number, "start" | "end"][] {
  const away = dot.radius + 4
  return [
    [dot.x + away, dot.y, "start"],
    [dot.x - away, dot.y, "end"],
    [dot.x + 2, dot.y + away + LINE / 2, "start"],
    [dot.x + 2, dot.y - away - LINE / 2, "start"],
  ]
}

function overlap(first: Box, second: Box): boolean {
  return first[0] < second[2] && second[0] < first[2] && first[1] < second[3] && second[1] < first[3]
}

/** The dot nearest to a point and not far from it; -1 for none. */
export function dotAt(plot: Roofline, x: number, y: number): number {
  let [best, least] = [-1, Number.POSITIVE_INFINITY]
  for (const dot of plot.dots) {
    const distance = Math.hypot(dot.x - x, dot.y - y) - dot.radius
    if (distance < 5 && distance <= least + 1e-9) [best, least] = [dot.index, Math.min(distance, least)]
  }
  return best
}

function axesOf(device: RoofDevice, dots: readonly RoofDot[], frame: Frame, used: ReadonlySet<number | null>): [Axis, Axis] {
  const roofs = device.roofs.filter((roof) => used.has(roof.width) || used.size === 0)
  const shown = roofs.length > 0 ? roofs : device.roofs
  const bandwidth = device.bytes_per_s
  const ridges = bandwidth === null ? [] : shown.map((roof) => roof.flops_per_s / bandwidth)
  // Some of the slope is always seen, or nobody knows where it is.
  const slope = ridges.length === 0 ? [] : [Math.min(...ridges) / 12]
  const intensities = [...dots.map((dot) => dot.intensity).filter(isPositive), ...ridges, ...slope]
  const [lowX, highX] = spread(intensities, 0.1, 1000, 2.5, 6)
  const x = axis(lowX, highX, frame.left + EDGE, frame.width - frame.right - EDGE)
  const rates = dots.map((dot) => spotOf(dot, bandwidth, x)?.[1] ?? null).filter(isPositive)
  const [lowY, highY] = spread([...rates, ...shown.map((roof) => roof.flops_per_s)], 1e9, 1e15, 2.5, 2.2)
  return [x, axis(lowY, highY, frame.height - frame.bottom, frame.top)]
}

/** Intensity, rate and edge of a dot; null where it has no place. */
function spotOf(dot: RoofDot, bandwidth: number | null, x: Axis): [number, number, Edge] | null {
  if (isPositive(dot.intensity) && isPositive(dot.flops_per_s)) return [dot.intensity, dot.flops_per_s, "none"]
  if (isPositive(dot.flops_per_s)) return [x.high, dot.flops_per_s, "right"]
  if (isPositive(dot.bytes_per_s) && bandwidth !== null) return [x.low, dot.bytes_per_s * x.low, "left"]
  return null
}

function roofAbove(device: RoofDevice, dot: RoofDot, intensity: number, edge: Edge): number | null {
  const flops = device.roofs.find((roof) => roof.width === dot.width)?.flops_per_s ?? null
  const memory = device.bytes_per_s === null ? null : device.bytes_per_s * intensity
  if (edge === "left") return memory
  if (edge === "right") return flops
  return flops === null || memory === null ? (flops ?? memory) : Math.min(flops, memory)
}

function memoryLine(device: RoofDevice, x: Axis, y: Axis): Roofline["memory"] {
  const rate = device.bytes_per_s
  if (rate === null) return null
  const highest = device.roofs.reduce((most, roof) => Math.max(most, roof.flops_per_s), 0)
  // The line begins where it enters the plot, on the left edge or on the lower one.
  const from = Math.max(x.low, y.low / rate)
  const to = Math.min(x.high, Math.min(highest > 0 ? highest : y.high, y.high) / rate)
  return from < to ? { x1: x.at(from), y1: y.at(rate * from), x2: x.at(to), y2: y.at(rate * to) } : null
}

function axis(low: number, high: number, from: number, to: number): Axis {
  const [start, end] = [Math.log10(low), Math.log10(high)]
  const ticks: number[] = []
  for (let power = Math.ceil(start - 1e-9); power <= end + 1e-9; power++) ticks.push(10 ** power)
  return { low, high, ticks, at: (value) => from + ((Math.log10(value) - start) / (end - start)) * (to - from) }
}

/** The span of `values`, with room on both sides. */
function spread(values: readonly number[], low: number, high: number, below: number, above: number): [number, number] {
  if (values.length === 0) return [low, high]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return [least / below, most * above]
}

function isPositive(value: number | null): value is number {
  return value !== null && value > 0 && Number.isFinite(value)
}
