/** CTAs on a canvas: how many ran, then a row for each multiprocessor, with the tail tinted. */
import type { Range } from "../layout/axis"
import { type CtaImage, type Lane, type PackedCtas, activeOver, boxesOf, imageOf, sumOfRows } from "../layout/inkernel/ctas"
import { count, text, time } from "../units"
import { AXIS, FONT, type Inks, drawTimes } from "./canvas"
import { colorOfHeat, fillOf } from "./colors"

export const ACTIVE = 44
/** Where rows begin: below the axis and the curve of active CTAs. */
export const TOP = AXIS + ACTIVE + 6
export const LEFT = 46
const LEAST_SLOT = 1.2 // pixels of a box
const SHADES = 32 // between two colours

export interface CtaPicture {
  packed: PackedCtas
  /** Numbers of CTAs in the grid. */
  numbers: ArrayLike<number>
  /** What is seen of the time. */
  range: Range
  width: number
  height: number
  /** Height of a multiprocessor, and how far rows are scrolled. */
  rowHeight: number
  scroll: number
  /** From the first idle multiprocessor to the end. */
  tail: Range | null
  /** From the launch to the first CTA; the kernel's own time. */
  kernel: Range | null
  color: "wave" | "duration"
  /** Shortest and longest CTA, for colours by duration. */
  extremes: Range
  chosen: number
  pointed: number
  dark: boolean
  inks: Inks
}

export function drawCtas(context: CanvasRenderingContext2D, picture: CtaPicture): void {
  const { width, height, inks } = picture
  context.font = FONT
  context.fillStyle = inks.ground
  context.fillRect(0, 0, width, height)
  context.save()
  context.beginPath()
  context.rect(LEFT, 0, width - LEFT, height)
  context.clip()
  drawTail(context, picture)
  drawGrid(context, picture)
  const image = lowRows(picture)
  const most = drawActive(context, picture, image)
  drawTailName(context, picture)
  context.beginPath()
  context.rect(LEFT, TOP, width - LEFT, height - TOP)
  context.clip()
  drawRows(context, picture, image)
  context.restore()
  drawNames(context, picture, most)
}

function xOf({ range, width }: CtaPicture, ns: number): number {
  return LEFT + ((ns - range[0]) / (range[1] - range[0])) * (width - LEFT)
}

function drawTail(context: CanvasRenderingContext2D, picture: CtaPicture): void {
  const { tail, inks, height } = picture
  if (tail === null || tail[1] <= tail[0]) return
  const [from, to] = [xOf(picture, tail[0]), xOf(picture, tail[1])]
  context.globalAlpha = 0.1
  context.fillStyle = inks.ink
  context.fillRect(from, AXIS, to - from, height - AXIS)
  context.globalAlpha = 1
  context.strokeStyle = inks.quiet
  context.setLineDash([3, 3])
  line(context, from, AXIS, from, height)
  context.setLineDash([])
}

/** Over all else, so that it can be read. */
function drawTailName(context: CanvasRenderingContext2D, picture: CtaPicture): void {
  const { tail, inks, width } = picture
  if (tail === null) return
  const from = Math.max(xOf(picture, tail[0]), LEFT)
  const words = `tail ${text(time(tail[1] - tail[0]))}`
  const room = context.measureText(words).width + 8
  if (Math.min(xOf(picture, tail[1]), width) - from < room) return
  context.fillStyle = inks.ground
  context.globalAlpha = 0.8
  context.fillRect(from + 2, AXIS + 2, room, 15)
  context.globalAlpha = 1
  context.fillStyle = inks.ink
  context.textAlign = "left"
  context.textBaseline = "middle"
  context.fillText(words, from + 6, AXIS + 10)
}

function drawGrid(context: CanvasRenderingContext2D, picture: CtaPicture): void {
  const { range, width, height, inks, kernel } = picture
  drawTimes(context, range, { left: LEFT, width, height, inks })
  if (kernel === null) return
  context.strokeStyle = inks.accent
  for (const ns of kernel) {
    const x = Math.round(xOf(picture, ns)) + 0.5
    if (x >= LEFT && x <= width) line(context, x, AXIS, x, picture.height)
  }
}

/** How many CTAs ran at each moment, as an area; returns the most at once. */
function drawActive(context: CanvasRenderingContext2D, picture: CtaPicture, image: CtaImage | null): number {
  const { packed, width, range, dark, inks } = picture
  const parts = Math.max(1, Math.floor(width - LEFT))
  const active = image === null ? activeOver(packed.start, packed.duration, range, parts) : sumOfRows(image)
  let most = 0
  for (const value of active) most = Math.max(most, value)
  if (most === 0) return 0
  const base = AXIS + ACTIVE
  context.fillStyle = fillOf("kernel", 3, dark).fill
  context.beginPath()
  context.moveTo(LEFT, base)
  active.forEach((value, at) => context.lineTo(LEFT + at + 0.5, base - ((ACTIVE - 4) * value) / most))
  context.lineTo(LEFT + parts, base)
  context.fill()
  context.strokeStyle = inks.line
  line(context, LEFT, base + 0.5, width, base + 0.5)
  return most
}

function drawRows(context: CanvasRenderingContext2D, picture: CtaPicture, image: CtaImage | null): void {
  const { packed, rowHeight, scroll, height } = picture
  const slotHeight = slotHeightOf(picture)
  if (image !== null) drawImage(context, picture, image)
  for (const lane of packed.lanes) {
    const top = TOP + lane.row * rowHeight - scroll + lane.slot * slotHeight
    if (top + slotHeight < TOP || top > height) continue
    if (image === null) drawLane(context, picture, lane, top, slotHeight)
    drawMarks(context, picture, lane, top, slotHeight)
  }
}

/** What rows look like that are too low for boxes; null where boxes are drawn. */
function lowRows(picture: CtaPicture): CtaImage | null {
  const { packed, range, width, extremes } = picture
  if (slotHeightOf(picture) >= LEAST_SLOT) return null
  const columns = Math.max(1, Math.floor(width - LEFT))
  const spread = Math.max(extremes[1] - extremes[0], 1e-9)
  const valueOf =
    picture.color === "wave"
      ? (cta: number): number => (packed.wave[cta] as number) & 1
      : (cta: number): number => ((packed.duration[cta] as number) - extremes[0]) / spread
  return imageOf(packed, range, columns, valueOf)
}

let sheet: HTMLCanvasElement | null = null

/** A pixel is as strong as it is full, and its colour the mean of what ran. */
function drawImage(context: CanvasRenderingContext2D, picture: CtaPicture, image: CtaImage): void {
  const { packed, dark, rowHeight, scroll } = picture
  const isWave = picture.color === "wave"
  const shades = Array.from({ length: SHADES + 1 }, (_, at) =>
    pixelOf(isWave ? mixed(shadeOf(0, dark), shadeOf(1, dark), at / SHADES) : colorOfHeat(0.25 + (0.75 * at) / SHADES, dark)),
  )
  sheet ??= document.createElement("canvas")
  sheet.width = image.columns
  sheet.height = image.rows
  const ink = sheet.getContext("2d")
  const data = ink?.createImageData(image.columns, image.rows)
  if (ink == null || data === undefined) return
  const pixels = new Uint32Array(data.data.buffer)
  for (let at = 0; at < pixels.length; at++) {
    const covered = image.covered[at] as number
    if (covered === 0) continue
    const shade = shades[Math.round((SHADES * (image.value[at] as number)) / covered)] as number
    const strength = Math.round(255 * Math.min(1, 0.2 + (0.8 * covered) / packed.slots))
    pixels[at] = shade + strength * 0x1000000
  }
  ink.putImageData(data, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(sheet, LEFT, TOP - scroll, image.columns, image.rows * rowHeight)
}

function slotHeightOf({ packed, rowHeight }: CtaPicture): number {
  return (rowHeight - rowGap(rowHeight)) / packed.slots
}

function shadeOf(wave: number, dark: boolean): string {
  return fillOf("kernel", wave % 2 === 0 ? 0 : 3, dark).fill
}

function bytesOf(color: string): [number, number, number] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as [number, number, number]
}

/** A colour as images hold it, without its strength: blue, green, red. */
function pixelOf(color: string): number {
  const [red, green, blue] = bytesOf(color)
  return red + 0x100 * green + 0x10000 * blue
}

function mixed(first: string, second: string, share: number): string {
  const [from, to] = [bytesOf(first), bytesOf(second)]
  const part = (value: number, at: number): string =>
    Math.round(value + ((to[at] as number) - value) * share).toString(16).padStart(2, "0")
  return `#${from.map(part).join("")}`
}

/** Rows are apart where there is room for it. */
export function rowGap(rowHeight: number): number {
  return rowHeight >= 12 ? 3 : rowHeight >= 5 ? 1 : 0
}

function drawLane(context: CanvasRenderingContext2D, picture: CtaPicture, lane: Lane, top: number, height: number): void {
  const { packed, range, width, dark } = picture
  const nsPerPixel = (range[1] - range[0]) / (width - LEFT)
  for (const box of boxesOf(packed, lane, range, nsPerPixel)) {
    const [from, to] = [xOf(picture, box.start), xOf(picture, box.end)]
    const gap = to - from > 4 ? 1 : 0
    context.fillStyle = colorOf(picture, box.cta, box.count)
    context.globalAlpha = box.count === 1 ? 1 : 0.35 + 0.65 * box.filled
    context.fillRect(from, top, Math.max(to - from - gap, 0.75), Math.max(height - (height > 5 ? 1 : 0), 0.75))
    context.globalAlpha = 1
    if (box.count === 1 && height >= 12 && to - from > 56 && picture.color === "wave") {
      context.fillStyle = fillOf("kernel", 0, dark).text
      context.textAlign = "left"
      context.textBaseline = "middle"
      context.fillText(`CTA ${picture.numbers[box.cta] ?? 0}`, Math.max(from, LEFT) + 4, top + height / 2)
    }
  }
}

/** Frames around the CTA that is chosen and the one under the pointer. */
function drawMarks(context: CanvasRenderingContext2D, picture: CtaPicture, lane: Lane, top: number, height: number): void {
  const { packed, inks } = picture
  const { start, duration } = packed
  for (const marked of [picture.pointed, picture.chosen]) {
    if (marked < 0 || packed.row[marked] !== lane.row || packed.slot[marked] !== lane.slot) continue
    const from = xOf(picture, start[marked] as number)
    const to = xOf(picture, (start[marked] as number) + (duration[marked] as number))
    context.strokeStyle = marked === picture.chosen ? inks.accent : inks.ink
    context.lineWidth = marked === picture.chosen ? 2 : 1
    context.strokeRect(from - 0.5, top - 0.5, Math.max(to - from, 2) + 1, Math.max(height, 2) + 1)
    context.lineWidth = 1
  }
}

function colorOf(picture: CtaPicture, cta: number, count: number): string {
  const { packed, dark, extremes } = picture
  if (picture.color === "duration") {
    const [least, most] = extremes
    const share = most > least ? ((packed.duration[cta] as number) - least) / (most - least) : 0
    return colorOfHeat(0.25 + 0.75 * share, dark)
  }
  // Neighbours in time are of two shades, so that waves are seen.
  return count > 1 ? fillOf("kernel", 1, dark).fill : shadeOf(packed.wave[cta] as number, dark)
}

/** Numbers of multiprocessors, as many as there is room for, and what the curve is. */
function drawNames(context: CanvasRenderingContext2D, picture: CtaPicture, most: number): void {
  const { packed, rowHeight, scroll, height, inks } = picture
  context.fillStyle = inks.quiet
  context.textAlign = "right"
  context.textBaseline = "middle"
  context.fillText("CTAs", LEFT - 6, AXIS + ACTIVE - 8)
  if (most > 0) context.fillText(text(count(Math.round(most))), LEFT - 6, AXIS + 8)
  const step = Math.max(1, Math.ceil(13 / rowHeight))
  let last = Number.NEGATIVE_INFINITY
  packed.sms.forEach((sm, row) => {
    const y = Math.max(TOP + (row + 0.5) * rowHeight - scroll, TOP + 5)
    if (row % step !== 0 || TOP + (row + 0.5) * rowHeight < TOP + scroll || y > height - 8 || y < last + 12) return
    context.fillText(row === 0 || rowHeight >= 13 ? `SM ${sm}` : String(sm), LEFT - 6, y)
    last = y
  })
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath()
  context.moveTo(x0, y0)
  context.lineTo(x1, y1)
  context.stroke()
}
