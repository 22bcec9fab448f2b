/** The part `kernels`, as render/page/kernels.py makes it: lists with a place for each kernel. */
import type { Profile } from "../model"

/** `[value]` where it is known, `[value, least, largest]` where it is estimated between these. */
export type Quantile = [number] | [number, number, number]

export interface KernelsPart {
  /** As in the document; `profile.shown(name)` is for people. */
  name: string[]
  kind: ("k" | "c" | "s" | "l" | "p" | "t")[]
  time_ns: number[]
  share: (number | null)[]
  count: (number | null)[]
  avg_ns: (number | null)[]
  min_ns: (number | null)[]
  p50_ns: (Quantile | null)[]
  p99_ns: (Quantile | null)[]
  max_ns: (number | null)[]
  flop_per_s: (number | null)[]
  byte_per_s: (number | null)[]
  share_of_peak: (number | null)[]
  bound: (string | null)[]
  headroom_ns: (number | null)[]
  grid: (string | null)[]
  block: (string | null)[]
  regs: (number | null)[]
  shared: (number | null)[]
  occupancy: (number | null)[]
}

export function kernelsOf(profile: Profile): KernelsPart | null {
  return profile.part<KernelsPart>("kernels")
}
