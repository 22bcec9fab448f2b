/** A heat map as a grid: stretches of addresses in reading order, with the accesses to each. */

export interface Grid {
  columns: number
  rows: number
  /** Accesses of each cell. */
  cells: Float64Array
  /** Bins in a cell. */
  binsPerCell: number
  /** Accesses of the cell that has the fewest, of those that have some. */
  least: number
  most: number
}

/** As many bins in a cell as needed for all of them to fit. */
export function gridOf(bins: ArrayLike<number>, columns: number, mostRows: number): Grid {
  const binsPerCell = Math.max(1, Math.ceil(bins.length / (columns * mostRows)))
  const cells = new Float64Array(Math.ceil(bins.length / binsPerCell))
  for (let bin = 0; bin < bins.length; bin++) {
    const cell = Math.floor(bin / binsPerCell)
    cells[cell] = (cells[cell] as number) + (bins[bin] as number)
  }
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  for (const count of cells) {
    most = Math.max(most, count)
    if (count > 0) least = Math.min(least, count)
  }
  return { columns, rows: Math.ceil(cells.length / columns), cells, binsPerCell, least: most === 0 ? 0 : least, most }
}

/** The fewest accesses that colours tell apart: small differences are not made to look large. */
export function lowestOf({ least, most }: Pick<Grid, "least" | "most">): number {
  return Math.max(1, Math.min(least, most / 16))
}

/** How strongly a cell is coloured, 0 to 1: by the logarithm, so that rare accesses are seen. */
export function heatOf(count: number, lowest: number, most: number): number {
  if (count <= 0 || most <= 0) return 0
  return most <= lowest ? 1 : 0.12 + 0.88 * Math.max(0, Math.log(count / lowest) / Math.log(most / lowest))
}
