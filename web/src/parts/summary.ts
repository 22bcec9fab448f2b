/** The part `summary`, as render/page/summary.py makes it. */
import type { MetricKind } from "../format"
import type { Profile } from "../model"

export interface DevicePart {
  name: string | null
  type: string
  id: string
  arch: string
  multiprocessors: number | null
  clock_mhz: number | null
  /** Bits of an operand -> peak in operations a second. */
  peak_flops: Record<string, number>
  peak_bytes_per_s: number | null
  clock_residual_ns: number | null
}

export interface SummaryPart {
  device: string
  devices: DevicePart[]
  is_interpreted: boolean
  recorded_as: "tree" | "trace"
  time_metric: string | null
  time_ns: number | null
  kernels: number | null
  contexts: number
  phases: number
  ranks: number
  lost: Record<string, number>
  says_losses: boolean
  metric_kinds: Record<string, MetricKind>
  flop_per_s: number | null
  byte_per_s: number | null
  share_of_peak: number | null
  bound: string | null
  headroom_ns: number | null
  /** The share of the time for which flops or bytes are known; the rest counts as no work. */
  declared_share: number | null
}

export function summaryOf(profile: Profile): SummaryPart | null {
  return profile.part<SummaryPart>("summary")
}
