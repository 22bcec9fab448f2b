/** Draws a bar for each step, those that stand out in the colour of problems, a line at the median, a mark across each bar. */
import { type Steps, barsOf } from "../layout/steps"
import type { Inks } from "./canvas"

export interface StepsPaint {
  steps: Steps
  /** Of each step, where the mark lies; null: no marks. */
  marks: ArrayLike<number> | null
  width: number
  height: number
  fill: string
  slow: string
  mark: string
  inks: Inks
  /** The step that is selected, and the one under the pointer; -1 for none. */
  chosen: number
  pointed: number
}

const MARK = 3 // pixels
const TOP = 4 // pixels above the highest bar, for the sign that it is cut

export function drawSteps(context: CanvasRenderingContext2D, paint: StepsPaint): void {
  const { steps, width, height, inks } = paint
  const room = height - TOP
  const bars = barsOf(steps, width)
  const columnOf = (step: number): number => (step < 0 ? -1 : Math.floor(((step + 0.5) * bars.length) / steps.values.length))
  const [chosen, pointed] = [columnOf(paint.chosen), columnOf(paint.pointed)]
  bars.forEach((bar, at) => {
    const tall = Math.max(bar.height * room, bar.height > 0 ? 1 : 0)
    context.fillStyle = at === chosen ? inks.accent : bar.isSlow ? paint.slow : paint.fill
    context.fillRect(bar.left, height - tall, bar.width, tall)
    if (at === pointed || at === chosen) {
      context.fillStyle = at === chosen ? inks.accent : inks.quiet
      context.fillRect(bar.left, height - 2, Math.max(bar.width, 3), 2)
    }
    if (!bar.isCut) return
    context.fillStyle = inks.ground
    context.fillRect(bar.left, TOP + 5, bar.width, 2) // the bar goes on
  })
  context.fillStyle = inks.quiet
  const median = Math.round(height - (Math.min(steps.spread.median / steps.top, 1) * room)) - 0.5
  for (let x = 0; x < width; x += 6) context.fillRect(x, median, 3, 1)
  if (paint.marks === null) return
  for (const { left, width: size, height: share } of barsOf({ ...steps, values: paint.marks }, width)) {
    if (!(share > 0)) continue
    const y = Math.round(height - share * room)
    context.fillStyle = inks.ground // a mark is seen on bars of every colour
    context.fillRect(left, y - 1, size, MARK + 2)
    context.fillStyle = paint.mark
    context.fillRect(left, y, size, MARK)
  }
}
