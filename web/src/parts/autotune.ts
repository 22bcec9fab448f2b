/** The part `autotune`, as render/page/autotune.py makes it. */
import type { Profile } from "../model"

export interface TunedConfig {
  config: string
  kwargs: Record<string, string>
  num_warps: number | null
  num_stages: number | null
  time_ns: number | null
  /** How many times as long as the winner. */
  over_best: number | null
  registers: number | null
  spills: number | null
  shared_bytes: number | null
  error: string | null
}

export interface TuningRun {
  kernel: string
  key: string[]
  path: string[]
  /** The context that it was made in; null where the tree lacks it. */
  row: number | null
  interpreted: boolean
  winner: number | null
  best_ns: number | null
  over_next: number | null
  over_median: number | null
  over_worst: number | null
  failed: number
  tuning_ns: number | null
  configs: TunedConfig[]
}

export interface AutotunePart {
  runs: TuningRun[]
}

export function autotuneOf(profile: Profile): AutotunePart | null {
  return profile.part<AutotunePart>("autotune")
}
