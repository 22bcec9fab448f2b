/** Draws the lanes of a timeline into a canvas: gaps, spans, marks, the selection and its arrows.
 *
 * Rectangles are gathered by colour and painted colour by colour: changing it costs more than a
 * rectangle does. Where spans are narrower than a pixel, a column's height tells how busy it is.
 */
import type { GapSums } from "../../layout/timeline/gaps"
import { type Track, walk } from "../../layout/timeline/nesting"
import type { Row } from "../../layout/timeline/rows"
import { FONT, fitted } from "../canvas"
import { fillOf } from "../colors"
import { HUES, STEPS, causeColor } from "./colors"
import { type Scene, barHeight, drawArrows, drawOutline, drawPicked } from "./scene"

const LABEL_PIXELS = 26

/** Rectangles by style, kept between frames so that nothing is allocated while zooming. */
class Batches {
  readonly #lists: number[][] = Array.from({ length: HUES.length * STEPS * 2 }, () => [])

  add(style: number, x: number, y: number, width: number, height: number): void {
    ;(this.#lists[style] as number[]).push(x, y, width, height)
  }

  /** Dim ones first, so that what was found is not hidden behind what was not. */
  paint(context: CanvasRenderingContext2D, dark: boolean): void {
    for (const odd of [1, 0]) this.#paint(context, dark, odd)
  }

  #paint(context: CanvasRenderingContext2D, dark: boolean, odd: number): void {
    this.#lists.forEach((list, style) => {
      if (list.length === 0 || style % 2 !== odd) return
      context.fillStyle = styleFill(style, dark).fill
      for (let at = 0; at < list.length; at += 4) {
        context.fillRect(list[at] as number, list[at + 1] as number, list[at + 2] as number, list[at + 3] as number)
      }
      list.length = 0
    })
  }
}

const batches = new Batches()

function styleOf(hue: number, step: number, dim: boolean): number {
  return (hue * STEPS + step) * 2 + (dim ? 1 : 0)
}

function styleFill(style: number, dark: boolean): { fill: string; text: string } {
  const plain = style >> 1
  return fillOf(HUES[Math.floor(plain / STEPS)] ?? "host", plain % STEPS, dark, (style & 1) === 1)
}

export function drawTimeline(context: CanvasRenderingContext2D, scene: Scene): void {
  const { window: shown, height, colors } = scene
  context.fillStyle = colors.ground
  context.fillRect(0, 0, shown.width, height)
  drawGrid(context, scene)
  const labels: Label[] = []
  const lines: number[] = []
  for (const row of scene.rows) {
    const top = row.top - scene.scrollTop
    if (row.lane === null) drawHead(context, scene, row, top, lines)
    else drawLane(context, scene, row, row.lane, top, labels, lines)
  }
  batches.paint(context, scene.dark)
  context.fillStyle = colors.accent
  for (let at = 0; at < lines.length; at += 3) {
    context.fillRect(lines[at] as number, lines[at + 1] as number, lines[at + 2] as number, 2)
  }
  if (scene.picked !== null) drawPicked(context, scene, scene.picked)
  drawLabels(context, labels)
  drawOutline(context, scene, scene.hovered, colors.quiet, 1)
  drawOutline(context, scene, scene.selected, colors.ink, 2)
  if (scene.selected !== null) drawArrows(context, scene, scene.selected)
}

function drawGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.colors.track
  for (const tick of scene.ticks) context.fillRect(Math.round(tick.x), 0, 1, scene.height)
}

/** The head of a group: when its device was idle, and where it is closed all its lanes as one. */
function drawHead(context: CanvasRenderingContext2D, scene: Scene, row: Row, top: number, lines: number[]): void {
  context.fillStyle = scene.colors.line
  context.fillRect(0, top, scene.window.width, 1)
  const gaps = scene.chart.gaps(row.group)
  if (gaps !== null) drawGaps(context, scene, gaps, top + 5, 13)
  if (scene.closed.has(row.group)) drawTrack(scene, scene.chart.union(row.group), top + 4, barHeight(row), null, [], lines)
}

function drawLane(context: CanvasRenderingContext2D, scene: Scene, row: Row, lane: number, top: number, labels: Label[], lines: number[]): void {
  const gaps = scene.chart.gaps(lane)
  const bar = barHeight(row)
  if (gaps !== null) {
    context.globalAlpha = scene.dark ? 0.5 : 0.38 // what one stream waits for matters less
    drawGaps(context, scene, gaps, top + 1, bar)
    context.globalAlpha = 1
  }
  const isHost = scene.chart.timeline.lanes[lane]?.kind === "host"
  scene.chart.tracks(lane).forEach((track, depth) => {
    const y = top + 1 + depth * row.track
    if (y + bar >= 0 && y <= scene.height) drawTrack(scene, track, y, bar, isHost ? depth : null, labels, lines)
  })
}

interface Label {
  text: string
  /** Pixels that it may take. */
  room: number
  x: number
  y: number
  color: string
}

/** `depth`: lightness goes by it; null: by the name. */
function drawTrack(scene: Scene, track: Track, y: number, bar: number, depth: number | null, labels: Label[], lines: number[]): void {
  const { window: shown, hues, steps } = scene
  const look = scene.chart.timeline.look
  const found = scene.found?.sums(track) ?? null
  const chosen = scene.chosen?.sums(track) ?? null
  const scale = (shown.to - shown.from) / shown.width
  const style = (at: number, isDim: boolean): number => {
    const of = look[track.spans[at] as number] as number
    return styleOf(hues[of] as number, depth === null ? (steps[of] as number) : depth % STEPS, isDim)
  }
  let [runX, runEnd, runHeight, runStyle] = [0, 0, 0, -1]
  const endRun = (): void => {
    if (runStyle >= 0) batches.add(runStyle, runX, y + bar - runHeight, runEnd - runX, runHeight)
    runStyle = -1
  }
  walk(track, shown, {
    box(at, left, right) {
      const x = Math.max(left, -2)
      const wide = Math.min(right, shown.width + 2) - x
      const isDim = found !== null && found[at] === found[at + 1]
      const drawn = style(at, isDim)
      batches.add(drawn, x, y, wide > 4 ? wide - 1 : Math.max(wide - 0.5, 1), bar)
      if (chosen !== null && chosen[at] !== chosen[at + 1]) lines.push(x, y + bar - 1, Math.max(wide - 1, 1))
      if (wide < LABEL_PIXELS) return
      const from = Math.max(x, 0)
      const room = Math.min(x + wide, shown.width) - from - 6
      const text = scene.label(look[track.spans[at] as number] as number)
      labels.push({ text, room, x: from + 3, y: y + (bar + 7) / 2, color: styleFill(drawn, scene.dark).text })
    },
    pixel(x, at, end) {
      const tall = heightOf(track.busy, at, end, scale, bar)
      if (chosen !== null && chosen[at] !== chosen[end]) lines.push(x, y + bar - 1, 1)
      const drawn = style((at + end) >> 1, found !== null)
      if (runStyle === drawn && runEnd === x && runHeight === tall) runEnd = x + 1
      else {
        endRun()
        ;[runX, runEnd, runHeight, runStyle] = [x, x + 1, tall, drawn]
      }
      if (found === null || found[at] === found[end]) return
      endRun() // what was found stands before what was not
      const part = heightOf(found, at, end, scale, bar)
      batches.add(drawn - 1, x, y + bar - part, 1, part)
    },
  })
  endRun()
}

/** How high a column is that shows the spans from `at` up to `end`, from sums of their times. */
function heightOf(sums: Float64Array, at: number, end: number, scale: number, bar: number): number {
  const share = Math.min(1, ((sums[end] as number) - (sums[at] as number)) / scale)
  return Math.max(2, Math.round(share * bar))
}

/** Columns in the colour of the cause. Where several gaps share a pixel, the colour is that of the
 * cause with the most time, and the height tells their share of the pixel. */
function drawGaps(context: CanvasRenderingContext2D, scene: Scene, sums: GapSums, y: number, tall: number): void {
  const { window: shown } = scene
  const scale = (shown.to - shown.from) / shown.width
  const lists: number[][] = []
  const add = (cause: number, x: number, width: number, height: number): void => {
    const list = (lists[cause] ??= [])
    const last = list.length - 3
    const end = last >= 0 ? (list[last] as number) + (list[last + 1] as number) : Number.NaN
    if (Math.abs(end - x) < 0.01 && list[last + 2] === height) list[last + 1] = (list[last + 1] as number) + width
    else list.push(x, width, height)
  }
  walk(sums.gaps, shown, {
    box(at, left, right) {
      const x = Math.max(left, 0)
      add(sums.gaps.causes[at] as number, x, Math.min(right, shown.width) - x, tall)
    },
    pixel(x, at, end) {
      const [cause, , whole] = sums.mostOf(at, end)
      add(cause, x, 1, Math.max(1, Math.round(Math.min(1, whole / scale) * tall)))
    },
  })
  lists.forEach((list, cause) => {
    context.fillStyle = causeColor(cause, scene.dark)
    for (let at = 0; at < list.length; at += 3) {
      context.fillRect(list[at] as number, y, list[at + 1] as number, list[at + 2] as number)
    }
  })
}

function drawLabels(context: CanvasRenderingContext2D, labels: readonly Label[]): void {
  context.font = FONT
  for (const label of labels) {
    const text = fitted(context, label.text, label.room)
    if (text === "") continue
    context.fillStyle = label.color
    context.fillText(text, label.x, label.y)
  }
}
