/** Which rows of a long table are seen, and in which order rows stand. */

/** Rows `from` up to `to` are drawn; the rest is empty space above and below. */
export interface Window {
  from: number
  to: number
  above: number
  below: number
}

const EXTRA = 10 // rows beyond the edge, so that scrolling shows no gap

export function visibleRows(count: number, rowHeight: number, scrollTop: number, height: number): Window {
  const first = Math.floor(scrollTop / rowHeight)
  const from = Math.max(0, Math.min(first - EXTRA, count))
  const to = Math.max(from, Math.min(count, first + Math.ceil(height / rowHeight) + EXTRA))
  return { from, to, above: from * rowHeight, below: (count - to) * rowHeight }
}

export type Key = number | string | null

/** `rows` by what `keyOf` says of them. What is missing stands last either way; equals keep their order. */
export function sorted<Row>(rows: readonly Row[], keyOf: (row: Row) => Key, isDescending: boolean): Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }))
  const sign = isDescending ? -1 : 1
  keyed.sort((a, b) => {
    const isMissing = [a.key, b.key].map((key) => key === null || Number.isNaN(key))
    if (isMissing[0] || isMissing[1]) return Number(isMissing[0]) - Number(isMissing[1])
    if (typeof a.key === "string" || typeof b.key === "string") return sign * compareTexts(String(a.key), String(b.key))
    return sign * ((a.key as number) - (b.key as number))
  })
  return keyed.map((each) => each.row)
}

/** Where to scroll so that a row is seen; the same place where it is seen already. */
export function scrollTo(row: number, rowHeight: number, scrollTop: number, height: number): number {
  const top = row * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop
}

function compareTexts(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
