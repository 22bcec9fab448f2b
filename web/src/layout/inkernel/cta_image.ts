/** CTAs that are too low to be drawn as boxes: how much of each pixel of a row they cover, and with what. */
import type { Range } from "../axis"
import type { PackedCtas } from "./ctas"

type Numbers = ArrayLike<number>

/** Row by row, `columns` pixels each. */
export interface CtaImage {
  rows: number
  columns: number
  /** CTAs that ran, on average over the pixel. */
  covered: Float32Array
  /** Their value, times how much each covers. */
  value: Float32Array
}

/** What the rows look like between two times; `start` is sorted, `valueOf` is what a CTA is coloured by, 0 to 1. */
export function imageOf(
  packed: PackedCtas,
  start: Numbers,
  duration: Numbers,
  [from, to]: Range,
  columns: number,
  valueOf: (cta: number) => number,
): CtaImage {
  const rows = packed.sms.length
  const covered = new Float32Array(rows * columns)
  const value = new Float32Array(rows * columns)
  const scale = columns / (to - from)
  for (let cta = 0; cta < start.length; cta++) {
    const begin = start[cta] as number
    if (begin >= to) break // they are sorted
    const right = Math.min((begin + (duration[cta] as number) - from) * scale, columns)
    if (right <= 0) continue
    const left = Math.max((begin - from) * scale, 0)
    const weight = valueOf(cta)
    const base = (packed.row[cta] as number) * columns
    const last = Math.min(Math.ceil(right), columns) - 1
    for (let pixel = Math.floor(left); pixel <= last; pixel++) {
      const part = Math.min(right, pixel + 1) - Math.max(left, pixel)
      covered[base + pixel] = (covered[base + pixel] as number) + part
      value[base + pixel] = (value[base + pixel] as number) + part * weight
    }
  }
  return { rows, columns, covered, value }
}

/** CTAs that ran in each column, all rows together. */
export function sumOfRows({ rows, columns, covered }: CtaImage): Float64Array {
  const sums = new Float64Array(columns)
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at++) sums[column] = (sums[column] as number) + (covered[at] as number)
  }
  return sums
}
