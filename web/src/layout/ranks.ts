/** Ranks as people compare them: in which order, and where each stands between the fastest and the slowest. */
import type { Rank, SpreadColumns } from "../schema"
import type { Column } from "../unpack"

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
export function entriesOf(spreads: SpreadColumns, ranks: number, column: (id: string) => Column): RankEntry[] {
  const times = column(spreads.times)
  const known = ranks === 0 ? 0 : Math.floor(times.length / ranks)
  const read = (id: string, place: number): number => column(id)[place] as number
  return Array.from(column(spreads.at), (at, place) => ({
    at,
    least: read(spreads.least, place),
    median: read(spreads.median, place),
    largest: read(spreads.largest, place),
    excess: read(spreads.excess, place),
    slowest: read(spreads.slowest, place),
    times: place < known ? times.subarray(place * ranks, (place + 1) * ranks) : null,
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
