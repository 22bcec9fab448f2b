/** The part `in_kernel`, as render/page/in_kernel.py and launches.py make it. */
import type { Profile } from "../model"
import type { Ctas as RecordedCtas } from "../schema"

type Maybe = number | null

export interface Region {
  name: string
  file: string
  line: number
  /** scope, op, loop, mma, wait, event, mark, ... */
  kind: string
  depth: number
  count: number
  /** `1 of 4 iterations`; empty: all of them. */
  every: string
  cycles: Maybe
  share: Maybe
  p10: Maybe
  p50: Maybe
  p90: Maybe
  min: Maybe
  max: Maybe
  mean_ns: Maybe
}

export interface RecordedValue {
  name: string
  count: number
  /** Of them NaN and infinities, which the rest leaves out. */
  not_finite: number
  mean: Maybe
  min: Maybe
  max: Maybe
}

/** The CTAs of the last launch that was read, and what to say of them. */
export interface Ctas extends RecordedCtas {
  texts: string[]
}

export interface Access {
  name: string
  kind: string
  file: string
  line: number
  tensor: string
  accesses: number
  bytes: number
  share: Maybe
}

export interface Heat {
  tensor: string
  bytes: number
  accesses: number
  bin_bytes: number
  /** Bins with at least one access. */
  touched: number
  /** Column of counts. */
  bins: string
  /** Column of the bytes that those moved. */
  byte_bins: string | null
}

export interface RecordedKernel {
  /** Contexts in the tree. */
  rows: number[]
  /** Names that the kernel has in the document, its symbol first. */
  names: string[]
  title: string
  context: string[]
  mode: string
  facts: string[]
  /** What to beware of in its numbers. */
  marks: string[]
  /** The same in a few words: `(! spills)`. */
  mark: string
  regions: Region[]
  region_notes: string[]
  error_cycles: Maybe
  values: RecordedValue[]
  ctas: Ctas | null
  accesses: Access[]
  access_notes: string[]
  heat: Heat[]
}

/** Columns of the passages of warps, by CTA, warp, line and time. */
export interface RegionColumns {
  /** Of CTA n: from `first[n]` up to `first[n + 1]`. */
  first: string
  warp: string
  line: string
  name: string
  start: string
  duration: string
}

export interface Launch {
  name: string
  title: string
  context: string[]
  /** Place of what its kernel recorded. */
  kernel: Maybe
  rank: Maybe
  device: number
  /** On the clock of the trace; all other times are from here on. */
  start_ns: number
  duration_ns: number
  /** The trace has the kernel itself. */
  is_timed: boolean
  first_ns: number
  last_ns: number
  tail_ns: Maybe
  texts: string[]
  /** Columns with a place for each CTA, by start. */
  number: string
  sm: string
  start: string
  duration: string
  regions: RegionColumns | null
}

export interface InKernelPart {
  remarks: string[]
  kernels: RecordedKernel[]
  launches: Launch[]
  launch_remarks: string[]
  region_names: string[]
}

export function inKernelOf(profile: Profile): InKernelPart | null {
  return profile.part<InKernelPart>("in_kernel")
}
