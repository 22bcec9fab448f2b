/** Draws the boxes of a flame graph that are seen. */
import type { FlameLayout } from "../layout/flame/boxes"
import { type Cut, fitted, widthOf } from "./canvas"
import { type Hue, fillOf, fillOfChange } from "./colors"

export const FLAME_FONT = '12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
const GAP = 1
const PADDING = 5
const ROOM_FOR_SHARE = 130 // pixels of a box from which on it tells its share too

export interface FlamePaint {
  layout: FlameLayout
  /** Pixels of a level. */
  level: number
  /** Pixels of the canvas, and how far it is scrolled down. */
  width: number
  height: number
  top: number
  dark: boolean
  accent: string
  ink: string
  /** What a box says; asked only of boxes that are seen. */
  nameOf(box: number): string
  hueOf(box: number): Hue
  /** How a box changed, -1 to 1, where colours tell that; null where they tell its kind. */
  changeOf(box: number): number | null
  shareOf(box: number): string
  isSelected(box: number): boolean
  /** Whether a search leaves it out. */
  isDim(box: number): boolean
  /** Whether some of a place's boxes, too narrow to draw, hold what is searched for. */
  isHit(place: number): boolean
  /** The place under the pointer; -1 for none. */
  hover: number
  /** The place that arrows go from; -1 for none. */
  focus: number
}

export function drawFlame(context: CanvasRenderingContext2D, paint: FlamePaint): void {
  const { layout, top, level: size } = paint
  context.font = FLAME_FONT
  context.textBaseline = "middle"
  const first = Math.max(0, Math.floor(top / size))
  const last = Math.min(layout.height - 1, Math.floor((top + paint.height) / size))
  for (let level = first; level <= last; level++) {
    const y = level * size - top
    for (const place of layout.byLevel[level] ?? []) drawBox(context, paint, place, y)
  }
  for (let level = first; level <= last; level++) {
    const y = level * size - top
    for (const place of layout.byLevel[level] ?? []) {
      if (layout.hidden[place] === 0 && paint.isSelected(layout.boxes[place] as number)) {
        outline(context, paint, place, y, paint.accent, place === paint.focus ? 3 : 2)
      } else if (place === paint.focus) outline(context, paint, place, y, paint.accent, 2)
      else if (place === paint.hover) outline(context, paint, place, y, paint.ink, 1)
    }
  }
}

function drawBox(context: CanvasRenderingContext2D, paint: FlamePaint, place: number, y: number): void {
  const { layout } = paint
  const box = layout.boxes[place] as number
  const left = Math.max(layout.lefts[place] as number, 0) // of a box that reaches beyond the window, the part inside
  const right = Math.min((layout.lefts[place] as number) + (layout.widths[place] as number), paint.width)
  const width = Math.max(right - left - GAP, 0.5)
  const hidden = layout.hidden[place] as number
  if (hidden > 0) {
    const isHit = paint.isHit(place)
    const { fill } = fillOf(isHit ? "kernel" : "host", 0, paint.dark, !isHit)
    context.fillStyle = fill
    context.fillRect(left, y, width, paint.level - GAP)
    return
  }
  const isDim = paint.isDim(box)
  const change = paint.changeOf(box)
  const { fill, text } = change === null ? fillOf(paint.hueOf(box), layout.levels[place] as number, paint.dark, isDim) : fillOfChange(change, paint.dark, isDim)
  context.fillStyle = fill
  context.fillRect(left, y, width, paint.level - GAP)
  if (width < 20) return
  let room = width
  if (width >= ROOM_FOR_SHARE) {
    const share = paint.shareOf(box)
    const size = widthOf(context, share)
    context.fillStyle = text
    context.globalAlpha = 0.8
    context.fillText(share, left + width - PADDING - size, y + paint.level / 2)
    context.globalAlpha = 1
    room -= size + PADDING
  }
  label(context, paint.nameOf(box), left, y + paint.level / 2, room, text, paint.hueOf(box) === "scope" ? "end" : "middle")
}

function label(context: CanvasRenderingContext2D, text: string, left: number, middle: number, room: number, color: string, cut: Cut): void {
  const shown = fitted(context, text, room - 2 * PADDING, cut)
  if (shown === "") return
  context.fillStyle = color
  context.fillText(shown, left + PADDING, middle)
}

function outline(context: CanvasRenderingContext2D, paint: FlamePaint, place: number, y: number, color: string, line: number): void {
  const left = paint.layout.lefts[place] as number
  const width = Math.max((paint.layout.widths[place] as number) - GAP, 1)
  context.strokeStyle = color
  context.lineWidth = line
  context.strokeRect(left + line / 2, y + line / 2, Math.max(width - line, 0.5), paint.level - GAP - line)
}
