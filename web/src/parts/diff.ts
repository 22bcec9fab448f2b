/** The page's `diff`, as render/page/diff.py makes it: the second profile against the first. */
import type { KindLetter } from "../format"
import type { Page } from "../model"

export type Verdict = "slower" | "faster" | "same" | "more runs" | "fewer runs" | "new" | "gone" | "not enough"

export interface DiffRuns {
  total_ns: number
  count: number | null
  mean_ns: number | null
}

/** After minus before. Half widths are of intervals of confidence; null: too little is known. */
export interface DiffChange {
  verdict: Verdict
  before: DiffRuns | null
  after: DiffRuns | null
  change_ns: number
  half_width_ns: number | null
  /** The part of the change that came from slower runs, not from more of them. */
  by_speed_ns: number | null
  speed_half_width_ns: number | null
  /** What the runs after would have taken at the speed before. */
  expected_ns: number | null
  basis: string | null
}

export interface DiffKernel extends DiffChange {
  name: string
  kind: KindLetter
  /** Launch attributes that changed: before and after. */
  launches: Record<string, [unknown, unknown]>
}

export interface DiffScope extends DiffChange {
  path: string[]
  before_row: number
  after_row: number
}

export interface DiffSide {
  source: string
  devices: string[]
  start_time_ns: number | null
  lost: number
}

export interface DiffPart {
  confidence: number
  before: DiffSide
  after: DiffSide
  /** How many times as often all kernels ran, where that is one number; else 1. */
  runs_ratio: number
  total: DiffChange
  kernels: DiffKernel[]
  new: DiffKernel[]
  gone: DiffKernel[]
  scopes: DiffScope[]
  more_scopes: number
  notes: string[]
}

export function diffOf(page: Page): DiffPart | null {
  return page.diff as DiffPart | null
}
