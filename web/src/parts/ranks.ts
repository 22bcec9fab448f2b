/** The part `ranks`, as render/page/ranks.py makes it: how the ranks of a merged profile spread. */
import type { Column } from "../format"
import type { Profile } from "../model"

export interface Rank {
  rank: number
  source: string
  host: string
  pid: number | null
  device: string
  time_ns: number | null
  kernels: number | null
  lost: number
}

/** Ids of columns; the entry whose slowest rank is furthest from the median comes first. */
export interface SpreadColumns {
  /** Row of the tree, or place of a name. */
  at: string
  least: string
  median: string
  largest: string
  /** The largest less the median. */
  excess: string
  /** Place of the slowest rank. */
  slowest: string
  /** Times of single ranks, one after the other, of the first entries. */
  times: string
  left_out: number
}

export interface RanksPart {
  remarks: string[]
  metric: string
  ranks: Rank[]
  /** Kernels, as in the document. */
  names: string[]
  titles: string[]
  kernels: SpreadColumns
  contexts: SpreadColumns
}

/** The same with the columns themselves. */
export interface Spreads {
  at: Column
  least: Column
  median: Column
  largest: Column
  excess: Column
  slowest: Column
  times: Column
  leftOut: number
}

export function ranksOf(profile: Profile): RanksPart | null {
  return profile.part<RanksPart>("ranks")
}

export function spreadsOf(profile: Profile, columns: SpreadColumns): Spreads {
  const read = profile.column
  return {
    at: read(columns.at),
    least: read(columns.least),
    median: read(columns.median),
    largest: read(columns.largest),
    excess: read(columns.excess),
    slowest: read(columns.slowest),
    times: read(columns.times),
    leftOut: columns.left_out,
  }
}
