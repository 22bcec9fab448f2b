/** Trees for tests, written as rows of depth, name and value. */
import type { Shape } from "../groups"
import { numberNames } from "./tree"

/** A shape of `[depth, name, own]`. */
export function shapeOf(rows: readonly (readonly [number, string, number?])[]): {
  shape: Shape
  own: Float64Array
  names: Int32Array
} {
  const size = rows.length
  const parents = new Int32Array(size).fill(-1)
  const ends = new Int32Array(size)
  const depths = new Int32Array(size)
  const path: number[] = []
  rows.forEach(([depth], row) => {
    path.length = depth
    parents[row] = path.at(-1) ?? -1
    depths[row] = depth
    path.push(row)
  })
  for (let row = size - 1; row >= 0; row--) {
    ends[row] = Math.max(ends[row] as number, row + 1)
    const parent = parents[row] as number
    if (parent >= 0) ends[parent] = Math.max(ends[parent] as number, ends[row] as number)
  }
  return {
    shape: { size, parents, ends, depths },
    own: Float64Array.from(rows, ([, , own]) => own ?? Number.NaN),
    names: numberNames(size, (row) => rows[row]?.[1] ?? ""),
  }
}
