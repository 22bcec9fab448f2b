/** Canvases: as sharp as the screen is, with the page's colours, and texts that fit. */
import { cutMiddle, withoutNamespaces } from "../names"

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
  }
}

/** The font of texts on canvases. */
export const FONT = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'

const widths = new Map<string, number>()

/** The width of `text` in the font that is set; letters are measured once. */
export function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let sum = 0
  for (const letter of text) {
    const key = context.font + letter
    let width = widths.get(key)
    if (width === undefined) widths.set(key, (width = context.measureText(letter).width))
    sum += width
  }
  return sum
}

/** `text` cut to fit into `room` pixels; empty where not even a few letters fit. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (room < 14) return ""
  const narrow = widthOf(context, "i")
  const most = Math.floor(room / narrow)
  if (text.length <= most && widthOf(context, text) <= room) return text
  const short = withoutNamespaces(text)
  let shown = cutMiddle(short, Math.max(3, most))
  for (let tries = 0; tries < 6; tries++) {
    const width = widthOf(context, shown)
    if (width <= room) return shown
    const letters = Math.min(shown.length - 1, Math.floor((shown.length * room) / width))
    if (letters < 3) return ""
    shown = cutMiddle(short, letters)
  }
  return ""
}
