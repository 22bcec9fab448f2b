/** What a frame of a timeline is drawn from, and what is drawn of its selection: outlines and arrows. */
import type { Chart, Marks } from "../../layout/timeline/chart"
import type { Window } from "../../layout/timeline/nesting"
import type { Row } from "../../layout/timeline/rows"
import { type Tick, xOf } from "../../layout/timeline/window"
import type { Range } from "../../layout/axis"
import type { Inks } from "../canvas"

/** Pixels of a span in a row: a little less than its track. */
export function barHeight(row: Row): number {
  return row.track - 2
}

/** Everything that one frame shows. */
export interface Scene {
  chart: Chart
  window: Window
  ticks: readonly Tick[]
  rows: readonly Row[]
  closed: ReadonlySet<string>
  /** How far the rows are scrolled, and how much of them is seen. */
  scrollTop: number
  height: number
  dark: boolean
  hues: Uint8Array
  steps: Uint8Array
  label(look: number): string
  found: Marks | null
  chosen: Marks | null
  selected: number | null
  hovered: number | null
  /** The stretch of time that is summed up. */
  picked: Range | null
  colors: Inks
}

const MOST_ARROWS = 200

/** Where a span stands on the canvas; null where its lane cannot be seen. */
function boxOf(scene: Scene, span: number): Box | null {
  const place = scene.chart.placeOf(span)
  if (place === null) return null
  const { starts, ends } = scene.chart.timeline
  const row = scene.rows.find((each) => each.lane === place.lane)
  const group = scene.chart.timeline.lanes[place.lane]?.group
  const head = row ?? scene.rows.find((each) => each.lane === null && each.group === group && scene.closed.has(each.group))
  if (head === undefined) return null
  const inside = row === undefined ? 4 : 1 + place.depth * head.track
  const left = xOf(scene.window, starts[span] as number)
  const right = Math.max(xOf(scene.window, ends[span] as number), left + 1)
  return { left, right, top: head.top - scene.scrollTop + inside, height: barHeight(head) }
}

export function drawOutline(context: CanvasRenderingContext2D, scene: Scene, span: number | null, color: string, width: number): void {
  const box = span === null ? null : boxOf(scene, span)
  if (box === null || box.right < 0 || box.left > scene.window.width) return
  const left = Math.max(box.left, -4)
  const wide = Math.max(Math.min(box.right, scene.window.width + 4) - left, 3)
  context.strokeStyle = color
  context.lineWidth = width
  context.strokeRect(left - 0.5, box.top - 0.5, wide, box.height + 1)
}

/** A stretch of time across all lanes. */
export function drawPicked(context: CanvasRenderingContext2D, scene: Scene, [from, to]: Range): void {
  const [left, right] = [xOf(scene.window, from), xOf(scene.window, to)]
  if (right < 0 || left > scene.window.width) return
  context.fillStyle = scene.colors.accent
  context.globalAlpha = 0.14
  context.fillRect(left, 0, right - left, scene.height)
  context.globalAlpha = 1
  for (const x of [left, right]) context.fillRect(Math.round(x), 0, 1, scene.height)
}

/** From the call that launched a span to it, and from it to what it launched. */
export function drawArrows(context: CanvasRenderingContext2D, scene: Scene, span: number): void {
  const { timeline } = scene.chart
  const pairs: [number, number][] = [
    ...timeline.launchedBy(span).map((source): [number, number] => [source, span]),
    ...timeline.launched(span).map((target): [number, number] => [span, target]),
  ]
  context.strokeStyle = scene.colors.accent
  context.fillStyle = scene.colors.accent
  context.lineWidth = 1.5
  for (const [source, target] of pairs.slice(0, MOST_ARROWS)) {
    const [from, to] = [boxOf(scene, source), boxOf(scene, target)]
    if (from !== null && to !== null) drawArrow(context, scene, from, to)
  }
}

type Box = { left: number; right: number; top: number; height: number }

function drawArrow(context: CanvasRenderingContext2D, scene: Scene, from: Box, to: Box): void {
  const far = scene.window.width * 2
  const near = (x: number): number => Math.min(Math.max(x, -far), far * 1.5)
  const [x0, x1] = [near(from.left), near(to.left)]
  const isDown = to.top > from.top
  const y0 = from.top + (isDown ? from.height : 0)
  const y1 = to.top + to.height / 2
  const bend = Math.max(16, Math.min(80, Math.abs(x1 - x0) / 2))
  context.beginPath()
  context.moveTo(x0, y0)
  context.bezierCurveTo(x0, y0 + (isDown ? 18 : -18), x1 - bend, y1, x1, y1)
  context.stroke()
  context.beginPath()
  context.moveTo(x1, y1)
  context.lineTo(x1 - 7, y1 - 4)
  context.lineTo(x1 - 7, y1 + 4)
  context.fill()
}
