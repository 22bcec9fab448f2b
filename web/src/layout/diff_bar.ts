/** Bars of changes: zero in the middle, slower to the right, with the interval of confidence around the end. */

/** Shares of the whole width, 0 to 1. */
export interface DiffBar {
  left: number
  width: number
  /** The interval; null where too little is known. */
  low: number | null
  high: number | null
}

/** The change that takes half of the width, of changes and halves of their intervals. */
export function largestChange(changes: readonly (readonly [number, number | null])[]): number {
  return changes.reduce((most, [change, half]) => Math.max(most, Math.abs(change) + Math.min(half ?? 0, Math.abs(change))), 0)
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
