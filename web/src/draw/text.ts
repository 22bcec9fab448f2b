/** Text on a canvas in a given width: cut in the middle, measured once for each letter. */
import { withoutNamespaces } from "../layout/frame_name"
import { cutMiddle } from "../names"

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
