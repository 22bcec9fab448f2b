/** The window of time: zooming, moving, ticks of the axis, and its words in the address. */
import { type Range, ticksOf } from "../axis"
import type { Window } from "./nesting"

/** The least that a window shows. */
export const MIN_NS = 1
/** How much of a window may lie beside the trace, so that its ends can be seen. */
const MARGIN = 0.02

/** `range` moved and resized so that it shows something of `extent` and no less than MIN_NS. */
export function clampRange(range: Range, extent: Range): Range {
  const whole = Math.max(extent[1] - extent[0], MIN_NS)
  const size = Math.min(Math.max(range[1] - range[0], MIN_NS), whole * (1 + 2 * MARGIN))
  const margin = size * MARGIN
  const from = Math.min(Math.max(range[0], extent[0] - margin), Math.max(extent[1], extent[0] + MIN_NS) + margin - size)
  return [from, from + size]
}

/** `range` made `factor` times as long around `at`, which stays where it is on the screen. */
export function zoomRange(range: Range, extent: Range, factor: number, at: number): Range {
  const whole = Math.max(extent[1] - extent[0], MIN_NS) * (1 + 2 * MARGIN)
  const size = Math.min(Math.max((range[1] - range[0]) * factor, MIN_NS), whole)
  const share = (at - range[0]) / (range[1] - range[0])
  const from = at - size * share
  return clampRange([from, from + size], extent)
}

/** `range` moved by a share of its length. */
export function moveRange(range: Range, extent: Range, share: number): Range {
  const step = (range[1] - range[0]) * share
  return clampRange([range[0] + step, range[1] + step], extent)
}

/** Everything, with a little room on both sides. */
export function wholeRange(extent: Range): Range {
  const margin = Math.max(extent[1] - extent[0], MIN_NS) * MARGIN * 0.5
  return [extent[0] - margin, Math.max(extent[1], extent[0] + MIN_NS) + margin]
}

/** A window around a span in which it takes a good part. */
export function rangeAround(start: number, end: number, extent: Range): Range {
  const size = Math.max(end - start, MIN_NS)
  return clampRange([start - size, end + size], extent)
}

export function timeAt(window: Window, x: number): number {
  return window.from + (x / window.width) * (window.to - window.from)
}

export function xOf(window: Window, time: number): number {
  return ((time - window.from) / (window.to - window.from)) * window.width
}

export interface Tick {
  x: number
  text: string
}

const LETTER = 6.4 // pixels of a letter on the axis, on average

/** The ticks of a window with their texts, as many as there is room for; times count from `zero`. */
export function axisOf(window: Window, zero: number): Tick[] {
  const shifted = { ...window, from: window.from - zero, to: window.to - zero }
  const largest = Math.max(Math.abs(shifted.from), Math.abs(shifted.to))
  const span: Range = [shifted.from, shifted.to]
  const { step, times } = ticksOf(span, window.width / 90)
  const first = times[0] ?? 0
  const longest = tickText(first, step, largest).length * LETTER + 12
  if (longest <= 90) return times.map((time) => ({ x: xOf(shifted, time), text: tickText(time, step, largest) }))
  // Deep inside only the last digits differ: the first tick has them all, the others count from it.
  const reach = shifted.to - first
  return times
    .map((time, at) => ({ x: xOf(shifted, time), text: at === 0 ? tickText(time, step, largest) : `+${tickText(time - first, step, reach)}` }))
    .filter((tick, at) => at === 0 || tick.x - xOf(shifted, first) >= longest)
}

const UNITS: readonly (readonly [string, number])[] = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
]

/** A time on the axis: in the unit of the largest time shown, with the digits that `step` needs. */
export function tickText(time: number, step: number, largest: number): string {
  const [unit, length] = UNITS.find((each) => Math.abs(largest) >= each[1]) ?? (["ns", 1] as const)
  const decimals = Math.max(0, Math.ceil(Math.log10(length / step) - 1e-9))
  const text = (time / length).toFixed(Math.min(decimals, 15))
  const [whole = "", fraction = ""] = text.replace(/^-(0(?:\.0*)?)$/, "$1").split(".")
  const thin = "\u202f"
  const head = whole.replace(/\B(?=(\d{3})+$)/g, thin)
  const tail = fraction.replace(/(\d{3})(?=\d)/g, `$1${thin}`)
  return `${head}${tail === "" ? "" : `.${tail}`}\u00a0${unit}`
}

/** The range as the address has it: nanoseconds after the beginning of the trace. */
export function rangeText(range: Range, extent: Range): string {
  const digits = Math.min(6, Math.max(0, Math.ceil(4 - Math.log10(range[1] - range[0]))))
  return range.map((time) => String(Number((time - extent[0]).toFixed(digits)))).join("~")
}

/** The range that an address tells; null where it tells none. */
export function rangeOfText(text: string, extent: Range): Range | null {
  const match = /^(-?\d+(?:\.\d+)?)~(-?\d+(?:\.\d+)?)$/.exec(text)
  if (match === null) return null
  const [from, to] = [Number(match[1]) + extent[0], Number(match[2]) + extent[0]]
  return to > from ? clampRange([from, to], extent) : null
}
