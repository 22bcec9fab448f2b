/** Ranks as people compare them: in which order, and where each stands between the fastest and the slowest. */
import type { Rank, Spreads } from "../parts/ranks"

/** One kernel or context with the spread of its ranks. */
export interface RankEntry {
  /** Row of the tree, or place of a name. */
  at: number
  least: number
  median: number
  largest: number
  excess: number
  /** Place of the slowest rank. */
  slowest: number
  /** Times of every rank; null where the page has none of them. */
  times: ArrayLike<number> | null
}

/** The entries of a part, in its order. */
export function entriesOf(spreads: Spreads, ranks: number): RankEntry[] {
  const known = ranks === 0 ? 0 : Math.floor(spreads.times.length / ranks)
  return Array.from(spreads.at, (at, place) => ({
    at,
    least: spreads.least[place] as number,
    median: spreads.median[place] as number,
    largest: spreads.largest[place] as number,
    excess: spreads.excess[place] as number,
    slowest: spreads.slowest[place] as number,
    times: place < known ? spreads.times.subarray(place * ranks, (place + 1) * ranks) : null,
  }))
}

/** Places of ranks by number, or by time with the slowest first. */
export function orderOf(ranks: readonly Rank[], by: "rank" | "time"): number[] {
  const places = ranks.map((_, place) => place)
  if (by === "rank") return places
  const timeOf = (place: number): number => ranks[place]?.time_ns ?? -1
  return places.sort((a, b) => timeOf(b) - timeOf(a) || a - b)
}

/** Where the times of ranks stand in `room` pixels that begin at zero; close ones are one mark, with how many. */
export function marksOf(times: ArrayLike<number>, largest: number, room: number): { x: number; count: number }[] {
  const counts = new Map<number, number>()
  for (let place = 0; place < times.length; place++) {
    const x = Math.round((room * (times[place] as number)) / Math.max(largest, 1e-12))
    counts.set(x, (counts.get(x) ?? 0) + 1)
  }
  return [...counts].map(([x, count]) => ({ x, count })).sort((a, b) => a.x - b.x)
}
