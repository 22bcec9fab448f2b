/** Draws the map above a timeline: all of it at once, one strip for hosts and one for each device. */
import type { Window } from "../../layout/timeline/nesting"
import { walk } from "../../layout/timeline/nesting"
import type { Chart } from "../../layout/timeline/chart"
import type { Group } from "../../layout/timeline/rows"
import type { Tick } from "../../layout/timeline/window"
import { FONT, type Inks, widthOf } from "../canvas"
import type { Hue } from "../colors"
import { strongOf } from "../colors"

export const MAP_HEIGHT = 40
export const AXIS_HEIGHT = 20
const STRIPS = 4 // more groups than that are not told apart here

/** The strips; they do not change while the window moves. */
export function drawMap(context: CanvasRenderingContext2D, chart: Chart, whole: Window, dark: boolean, colors: Inks): void {
  context.fillStyle = colors.ground
  context.fillRect(0, 0, whole.width, MAP_HEIGHT)
  const groups = chart.groups.filter((group) => group.kind !== "sm" && group.kind !== "warp").slice(0, STRIPS)
  const shown = groups.length > 0 ? groups : chart.groups.slice(0, STRIPS)
  const height = Math.floor(MAP_HEIGHT / Math.max(shown.length, 1))
  const scale = (whole.to - whole.from) / whole.width
  shown.forEach((group, at) => {
    const track = chart.union(group.name)
    const bottom = (at + 1) * height - 1
    const busy = new Float64Array(Math.ceil(whole.width) + 1)
    walk(track, whole, {
      box(_place, left, right) {
        for (let x = Math.max(0, Math.floor(left)); x < right && x < busy.length; x++) {
          busy[x] = Math.min(1, (busy[x] as number) + Math.min(right, x + 1) - Math.max(left, x))
        }
      },
      pixel(x, from, to) {
        busy[x] = Math.min(1, (busy[x] as number) + ((track.busy[to] as number) - (track.busy[from] as number)) / scale)
      },
    })
    context.fillStyle = strongOf(hueOf(group), dark)
    for (let x = 0; x < busy.length; x++) {
      const tall = (busy[x] as number) * (height - 2)
      if (tall > 0) context.fillRect(x, bottom - Math.max(tall, 1), 1, Math.max(tall, 1))
    }
  })
}

function hueOf(group: Group): Hue {
  return group.kind === "host" ? "scope" : "kernel"
}

/** The times above the lanes. */
export function drawAxis(context: CanvasRenderingContext2D, ticks: readonly Tick[], width: number, colors: Inks): void {
  context.fillStyle = colors.ground
  context.fillRect(0, 0, width, AXIS_HEIGHT)
  context.font = FONT
  context.fillStyle = colors.quiet
  for (const tick of ticks) {
    const x = Math.round(tick.x)
    context.fillRect(x, AXIS_HEIGHT - 4, 1, 4)
    context.fillText(tick.text, Math.min(x + 3, width - widthOf(context, tick.text) - 2), AXIS_HEIGHT - 5)
  }
}
