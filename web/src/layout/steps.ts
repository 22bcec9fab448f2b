/** A chart with a bar for each of a row of numbers, such as the times of steps: how high, and which stand out. */
import { type Spread, spreadOf } from "./groups"

export interface Steps {
  values: ArrayLike<number>
  spread: Spread
  /** From here on a step is slow. */
  limit: number
  /** What the height of the chart stands for; longer bars are cut. */
  top: number
}

const FAR = 3 // quartile distances: what is further out than that is no chance
const LEAST = 1.05 // times the median: less than that nobody calls slow
const ROOM = 4 // times p90: a step that takes longer would make all others flat

/** The chart of some numbers; null where there is nothing to draw. NaN is drawn as nothing. `marks` shall fit in as well. */
export function stepsOf(values: ArrayLike<number>, marks: ArrayLike<number> | null = null): Steps | null {
  const spread = spreadOf(values)
  if (spread === null || !(spread.max > 0)) return null
  const sorted = Float64Array.from(values).filter((value) => !Number.isNaN(value)).sort()
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number
  const limit = Math.max(at(0.75) + FAR * (at(0.75) - at(0.25)), LEAST * spread.median)
  const top = Math.max(topOf(spread), topOf(marks === null ? null : spreadOf(marks)))
  return { values, spread, limit, top }
}

function topOf(spread: Spread | null): number {
  if (spread === null) return 0
  const reach = ROOM * spread.p90
  return reach > 0 ? Math.min(spread.max, reach) : spread.max
}

/** Places of the slow ones, the slowest first. */
export function slowSteps({ values, limit }: Steps): number[] {
  const found: number[] = []
  for (let at = 0; at < values.length; at++) if ((values[at] as number) > limit) found.push(at)
  return found.sort((a, b) => (values[b] as number) - (values[a] as number))
}

export interface StepBar {
  left: number
  width: number
  /** Its share of the height. */
  height: number
  isSlow: boolean
  /** Whether it is higher than the chart. */
  isCut: boolean
}

/** Bars from left to right; where there are more steps than pixels, a bar stands for several and is as high as the largest. */
export function barsOf(steps: Steps, width: number): StepBar[] {
  const count = steps.values.length
  const columns = Math.max(1, Math.min(count, Math.floor(width)))
  const bars: StepBar[] = []
  for (let column = 0; column < columns; column++) {
    const [from, to] = [Math.floor((column * count) / columns), Math.floor(((column + 1) * count) / columns)]
    let largest = 0
    for (let at = from; at < to; at++) largest = Math.max(largest, steps.values[at] || 0)
    const [left, right] = [(column * width) / columns, ((column + 1) * width) / columns]
    const gap = right - left >= 3 ? 1 : 0
    bars.push({
      left,
      width: right - left - gap,
      height: Math.min(1, largest / steps.top),
      isSlow: largest > steps.limit,
      isCut: largest > steps.top,
    })
  }
  return bars
}

/** The step under a point; of several in one bar the largest. -1 beside the chart. */
export function stepAt(steps: Steps, width: number, x: number): number {
  const count = steps.values.length
  if (x < 0 || x >= width || count === 0) return -1
  const columns = Math.max(1, Math.min(count, Math.floor(width)))
  const column = Math.min(columns - 1, Math.floor((x / width) * columns))
  const [from, to] = [Math.floor((column * count) / columns), Math.floor(((column + 1) * count) / columns)]
  let best = from
  for (let at = from; at < to; at++) if ((steps.values[at] || 0) > (steps.values[best] || 0)) best = at
  return best
}
