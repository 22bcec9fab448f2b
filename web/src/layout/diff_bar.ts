/** Bars of changes: zero in the middle, slower to the right, with the interval of confidence around the end. */

/** Shares of the whole width, 0 to 1. */
export interface DiffBar {
  left: number
  width: number
  /** The interval; null where too little is known. */
  low: number | null
  high: number | null
}

/** The change that takes half of the width. */
export function largestChange(changes: readonly { change_ns: number; half_width_ns: number | null }[]): number {
  return changes.reduce((most, each) => Math.max(most, Math.abs(each.change_ns) + Math.min(each.half_width_ns ?? 0, Math.abs(each.change_ns))), 0)
}

/** Intervals that reach further than the bar's half are cut there. */
export function layoutDiffBar(change: number, halfWidth: number | null, largest: number): DiffBar {
  if (!(largest > 0)) return { left: 0.5, width: 0, low: null, high: null }
  const at = (value: number): number => 0.5 + 0.5 * Math.min(Math.max(value / largest, -1), 1)
  const end = at(change)
  return {
    left: Math.min(0.5, end),
    width: Math.abs(end - 0.5),
    low: halfWidth === null ? null : at(change - halfWidth),
    high: halfWidth === null ? null : at(change + halfWidth),
  }
}
