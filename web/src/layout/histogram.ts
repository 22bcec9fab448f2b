/** How often times were how long: counts in bins, on a logarithmic scale where they differ by much. */

export interface Histogram {
  /** Edges of the bins, one more than there are bins. */
  edges: number[]
  counts: number[]
  isLogarithmic: boolean
}

const WIDE = 20 // times the least: beyond that, equal steps would hide the short ones

/** The bins of `values` that are positive; null where they are fewer than two. */
export function histogramOf(values: readonly number[], bins: number): Histogram | null {
  const known = values.filter((value) => value > 0 && Number.isFinite(value))
  if (known.length < 2) return null
  const least = known.reduce((low, value) => Math.min(low, value))
  const most = known.reduce((high, value) => Math.max(high, value))
  const isLogarithmic = most > WIDE * least
  const many = most === least ? 1 : bins
  const to = isLogarithmic ? Math.log : (value: number): number => value
  const back = isLogarithmic ? Math.exp : (value: number): number => value
  const [from, step] = [to(least), (to(most) - to(least)) / many]
  const edges = Array.from({ length: many + 1 }, (_, at) => (at === 0 ? least : at === many ? most : back(from + at * step)))
  const counts = new Array<number>(many).fill(0)
  for (const value of known) {
    const at = step === 0 ? 0 : Math.min(many - 1, Math.floor((to(value) - from) / step))
    counts[at] = (counts[at] as number) + 1
  }
  return { edges, counts, isLogarithmic }
}
