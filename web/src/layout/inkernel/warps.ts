/** Where the regions of one CTA stand: a band for each warp, in it nested regions above each other and events
 * on lines of their own.
 */
import type { Column } from "../../unpack"

export interface RegionColumnsRead {
  first: Column
  warp: Column
  line: Column
  name: Column
  start: Column
  duration: Column
}

/** Rows of one warp. */
export interface Band {
  warp: number
  /** The first row, and how many there are. */
  row: number
  rows: number
}

export interface RegionBox {
  /** Place in the columns. */
  at: number
  name: number
  row: number
  start: number
  end: number
}

export interface Warps {
  bands: Band[]
  rows: number
  boxes: RegionBox[]
  from: number
  to: number
}

/** The warps of the CTA at place `cta`, in the order of their numbers. */
export function layoutWarps(columns: RegionColumnsRead, cta: number): Warps {
  const [first, last] = [columns.first[cta] ?? 0, columns.first[cta + 1] ?? 0]
  const bands: Band[] = []
  const boxes: RegionBox[] = []
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let rows = 0
  let open: number[] = [] // ends of the regions around the next one
  let [warp, line] = [-1, -1]
  let base = 0 // the first row of this line of this warp
  for (let at = first; at < last; at++) {
    const start = columns.start[at] as number
    const end = start + (columns.duration[at] as number)
    if (columns.warp[at] !== warp || columns.line[at] !== line) {
      if (columns.warp[at] !== warp) bands.push({ warp: columns.warp[at] as number, row: rows, rows: 0 })
      ;[warp, line] = [columns.warp[at] as number, columns.line[at] as number]
      open = []
      base = rows
    }
    while (open.length > 0 && (open.at(-1) as number) <= start) open.pop()
    const row = base + open.length
    open.push(end)
    rows = Math.max(rows, row + 1)
    const band = bands.at(-1) as Band
    band.rows = rows - band.row
    boxes.push({ at, name: columns.name[at] as number, row, start, end })
    from = Math.min(from, start)
    to = Math.max(to, end)
  }
  return { bands, rows, boxes, from: rows === 0 ? 0 : from, to: rows === 0 ? 0 : to }
}

/** The region at a place of the picture; null where there is none. Later ones are on top. */
export function regionAt(warps: Warps, row: number, time: number, slack: number): RegionBox | null {
  let best: RegionBox | null = null
  for (const box of warps.boxes) {
    if (box.row !== row || box.start > time + slack || box.end < time - slack) continue
    if (best === null || box.end - box.start < best.end - best.start) best = box
  }
  return best
}
