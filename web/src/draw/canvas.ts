/** Canvases: as sharp as the screen is, with the page's colours, and texts that fit. */
import { type Range, ticksOf } from "../layout/axis"
import { cutMiddle, withoutNamespaces } from "../names"
import { text, time, timeUnit } from "../units"

/** Fit `canvas` to `width` and `height` and clear it; returns what draws in CSS pixels. */
export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const context = canvas.getContext("2d")
  context?.setTransform(ratio, 0, 0, ratio, 0, 0)
  context?.clearRect(0, 0, width, height)
  return context
}

export interface Inks {
  ground: string
  raised: string
  line: string
  ink: string
  quiet: string
  accent: string
  track: string
}

/** The page's colours; the theme's element has them as variables. */
export function inks(): Inks {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string): string => style.getPropertyValue(name).trim()
  return {
    ground: of("--ground"),
    raised: of("--raised"),
    line: of("--line"),
    ink: of("--ink"),
    quiet: of("--quiet"),
    accent: of("--accent"),
    track: of("--track"),
  }
}

/** The font of texts on canvases. */
export const FONT = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'

const widths = new Map<string, number>()
const MOST_WIDTHS = 5000
const LEAST = 6 // letters of a name that is cut: what is left of fewer says nothing
const SHORT = 9 // letters: in less, the beginning of a name tells more than both its ends

/** The width of `words` in the font that is set. */
export function widthOf(context: CanvasRenderingContext2D, words: string): number {
  const key = context.font + words
  let width = widths.get(key)
  if (width === undefined) {
    if (widths.size >= MOST_WIDTHS) widths.clear()
    widths.set(key, (width = context.measureText(words).width))
  }
  return width
}

/** Where a name is cut: kernels differ at both ends, scopes are known by how they begin. */
export type Cut = "middle" | "end"

/** `name` cut to fit into `room` pixels, namespaces first; empty where fewer than six letters of it would be left. */
export function fitted(context: CanvasRenderingContext2D, name: string, room: number, cut: Cut = "middle"): string {
  if (room < 14) return ""
  let shown = cutMiddle(name, 200)
  const short = withoutNamespaces(name)
  for (let tries = 0; tries < 6; tries++) {
    const width = widthOf(context, shown)
    if (width <= room) return shown
    const letters = Math.min(shown.length - 1, Math.floor((shown.length * room) / width))
    if (letters <= LEAST) return ""
    shown = cut === "end" || letters < SHORT ? `${short.slice(0, letters - 1)}…` : cutMiddle(short, letters)
  }
  return ""
}

/** The height of the times above a picture. */
export const AXIS = 18

/** Times above a picture that begins at `left`, and a line down from each. */
export function drawTimes(
  context: CanvasRenderingContext2D,
  [from, to]: Range,
  { left, width, height, inks }: { left: number; width: number; height: number; inks: Inks },
): void {
  const whole = timeUnit(to)
  const unit = to - from < whole[1] / 20 ? timeUnit(to - from) : whole
  context.textBaseline = "middle"
  context.textAlign = "center"
  for (const tick of ticksOf([from, to], Math.max(2, Math.floor((width - left) / 110))).times) {
    const x = Math.round(left + ((tick - from) / (to - from)) * (width - left))
    context.fillStyle = inks.line
    context.fillRect(x, AXIS - 4, 1, height)
    context.fillStyle = inks.quiet
    const words = tick === 0 ? "0" : text(time(tick, unit))
    const half = context.measureText(words).width / 2
    context.fillText(words, Math.min(Math.max(x, left + half), width - half - 2), AXIS / 2)
  }
}
