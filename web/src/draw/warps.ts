/** The warps of one CTA on a canvas: a band for each, with the regions that it went through. */
import type { Range } from "../layout/axis"
import type { RegionBox, Warps } from "../layout/inkernel/warps"
import { cutMiddle } from "../names"
import { AXIS, FONT, type Inks, drawTimes } from "./canvas"
import { colorOfRegion, inkOfRegion } from "./colors"

export const ROW = 15
export const LEFT = 58
const BAND_GAP = 5
const LETTER = 6.2 // pixels, about

/** The top of a row, with the bands apart. */
export function topOf(warps: Warps, row: number): number {
  const bandsBefore = warps.bands.findLastIndex((band) => band.row <= row)
  return AXIS + row * ROW + Math.max(bandsBefore, 0) * BAND_GAP
}

export function heightOf(warps: Warps): number {
  return AXIS + warps.rows * ROW + Math.max(warps.bands.length - 1, 0) * BAND_GAP + 4
}

/** The row at a height; -1 between bands. */
export function rowAt(warps: Warps, y: number): number {
  for (let row = 0; row < warps.rows; row++) {
    const top = topOf(warps, row)
    if (y >= top && y < top + ROW) return row
  }
  return -1
}

export interface WarpPicture {
  warps: Warps
  names: readonly string[]
  /** Colours of regions by the number of their name. */
  colorAt(name: number): number
  range: Range
  /** Times are told from here on. */
  zero: number
  width: number
  height: number
  pointed: RegionBox | null
  dark: boolean
  inks: Inks
}

export function drawWarps(context: CanvasRenderingContext2D, picture: WarpPicture): void {
  const { warps, range, width, height, inks, zero } = picture
  const scale = (width - LEFT) / (range[1] - range[0])
  const xOf = (ns: number): number => LEFT + (ns - range[0]) * scale
  context.font = FONT
  context.fillStyle = inks.ground
  context.fillRect(0, 0, width, height)
  context.textBaseline = "middle"
  context.textAlign = "right"
  warps.bands.forEach((band, at) => {
    const top = topOf(warps, band.row)
    if (at % 2 === 0) {
      context.fillStyle = inks.raised
      context.fillRect(0, top - BAND_GAP / 2, width, band.rows * ROW + BAND_GAP)
    }
    context.fillStyle = inks.quiet
    context.fillText(`warp ${band.warp}`, LEFT - 6, top + ROW / 2)
  })
  context.save()
  context.beginPath()
  context.rect(LEFT, 0, width - LEFT, height)
  context.clip()
  drawTimes(context, [range[0] - zero, range[1] - zero], { left: LEFT, width, height, inks })
  drawBoxes(context, picture, xOf)
  context.restore()
}

function drawBoxes(context: CanvasRenderingContext2D, picture: WarpPicture, xOf: (ns: number) => number): void {
  const { warps, range, dark, inks, width } = picture
  context.textAlign = "left"
  const drawn = new Float64Array(warps.rows).fill(Number.NEGATIVE_INFINITY) // right edges of narrow boxes
  for (const box of warps.boxes) {
    if (box.end < range[0] || box.start > range[1]) continue
    const [from, to] = [xOf(box.start), xOf(box.end)]
    // One of many in a pixel is enough.
    if (to - from < 0.7 && to <= (drawn[box.row] as number) + 0.7) continue
    drawn[box.row] = to
    const top = topOf(warps, box.row)
    context.fillStyle = colorOfRegion(picture.colorAt(box.name), dark)
    context.fillRect(from, top + 0.5, Math.max(to - from - (to - from > 3 ? 1 : 0), 0.75), ROW - 2)
    const left = Math.max(from, LEFT)
    const room = Math.floor((Math.min(to, width) - left - 8) / LETTER)
    if (room >= 3) {
      context.fillStyle = inkOfRegion(dark)
      context.fillText(cutMiddle(picture.names[box.name] ?? "", room), left + 4, top + ROW / 2)
    }
    if (box === picture.pointed) {
      context.strokeStyle = inks.ink
      context.strokeRect(from - 0.5, top + 0.5, Math.max(to - from, 2), ROW - 2)
    }
  }
}
