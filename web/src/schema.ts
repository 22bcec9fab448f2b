/**
 * Types of what the page gets. Made by tools/schema.py from Python's dataclasses:
 * one list, however long, as nobody edits it.
 */

/** Where a Python frame or a sampled line is in the source. */
export type Place = [file: string, line: number, function: string]

/** How values of a metric add up. */
export type MetricKind = "inclusive" | "exclusive" | "property"

/** One metric: the rows that have it, ascending, and the number of each row alone. */
export interface MetricColumns {
  name: string
  kind: MetricKind
  rows: string
  values: string
}

/** How long the runs of a kernel took, with a place for each row that knows; NaN: not known. */
export interface RunColumns {
  rows: string
  min_ns: string
  p50_ns: string
  p99_ns: string
  max_ns: string
  launch: string
}

/** How the kernel of a context was launched; null where launches differ or nobody told. */
export interface LaunchShape {
  grid: string | null
  block: string | null
  regs: number | null
  shared: number | null
  occupancy: number | null
}

/** Contexts by row, depth first, row 0 the root. Frames that many rows share stand once. */
export interface TreePart {
  names: string[]
  kinds: string
  places: Record<string, Place>
  frame: string
  parent: string
  marks: Record<string, string>
  metrics: MetricColumns[]
  runs: RunColumns
  launches: LaunchShape[]
}

/** Contexts in groups, which are a tree again: depth first, group 0 that of the root. */
export interface FoldsPart {
  group: string
  titles: Record<string, string>
}

/** Groups for those who hide frames of libraries: each is in the group of what is above it. */
export interface LibraryPart {
  frames: number
  plain: FoldsPart
  folded: FoldsPart
}

/** A name as people read it: demangled and shortened, and the same with all its arguments. */
export type ShownName = [short: string, whole: string]

/** The peak of a device for operands of `width` bits. */
export interface Roof {
  width: number
  label: string
  flops_per_s: number
}

/** A device and its roofs; null: not known. */
export interface RoofDevice {
  name: string
  id: string
  multiprocessors: number | null
  clock_mhz: number | null
  bytes_per_s: number | null
  roofs: Roof[]
}

/** What one of several devices did. */
export interface DeviceTotal {
  name: string
  time_ns: number
  kernels: number
}

/** What `kernels` says of each kernel, for all of them together; null: not known. */
export interface Rates {
  flop_per_s: number | null
  byte_per_s: number | null
  share_of_peak: number | null
  bound: string | null
  headroom_ns: number | null
  declared_share: number | null
  is_partial: boolean
  remark: string
}

/** What the first screen says: how long, where, and is it good; what was recorded, and how. */
export interface SummaryPart {
  device: string
  devices: RoofDevice[]
  by_device: DeviceTotal[]
  is_interpreted: boolean
  time_metric: string | null
  time_ns: number | null
  kernels: number | null
  contexts: number
  phases: number
  ranks: number
  lost: Record<string, number>
  says_losses: boolean
  warnings: string[]
  command: string[]
  host: string
  start_time_ns: number | null
  end_time_ns: number | null
  framework: string
  refused: string
  backends: string[]
  mode: string
  proton_version: string
  triton_version: string
  python_version: string
  rates: Rates
}

/** What a frame names; the value is the letter that stands for it in files. */
export type FrameKind = "r" | "s" | "t" | "p" | "k" | "c" | "l" | "m" | "o" | "b"

/** Lists with a place for each kernel, those with the most time first. */
export interface KernelsPart {
  name: string[]
  kind: FrameKind[]
  time_ns: number[]
  share: (number | null)[]
  count: (number | null)[]
  avg_ns: (number | null)[]
  min_ns: (number | null)[]
  p50_ns: (number[] | null)[]
  p99_ns: (number[] | null)[]
  max_ns: (number | null)[]
  flop_per_s: (number | null)[]
  byte_per_s: (number | null)[]
  share_of_peak: (number | null)[]
  bound: (string | null)[]
  headroom_ns: (number | null)[]
  peak_remark: (string | null)[]
  recording_remark: (string | null)[]
  grid: (string | null)[]
  block: (string | null)[]
  regs: (number | null)[]
  shared: (number | null)[]
  occupancy: (number | null)[]
}

/** Work by place: a list each, with an entry for every place in which something was done. */
export interface WorkPart {
  names: string[]
  module: string
  op: string
  kernel: string
  line: string
  phase: string
  time_ns: string
  count: string
  cpu_ns: string
  calls: string
}

/** One kernel, or a scope that declares work, on one device; null: not known. */
export interface RoofDot {
  name: string
  kind: FrameKind
  row: number
  device: number | null
  contexts: number
  count: number | null
  time_ns: number
  width: number | null
  intensity: number | null
  flops_per_s: number | null
  bytes_per_s: number | null
  least_ns: number | null
  headroom_ns: number | null
  share_of_peak: number | null
  bound: string | null
  remark: string
}

/** Devices with their roofs, and a dot for each kernel; those with the most to save first. */
export interface RooflinePart {
  devices: RoofDevice[]
  dots: RoofDot[]
}

/** What autotuning took, which the other parts leave out, and those parts with it counted. */
export interface TuningPart {
  time_ns: number
  share: number
  runs: number | null
  rows: [number, number][]
  summary: SummaryPart
  kernels: KernelsPart | null
  roofline: RooflinePart | null
}

/** One configuration that was tried; null: not known. */
export interface TunedConfig {
  config: string
  kwargs: Record<string, string>
  num_warps: number | null
  num_stages: number | null
  time_ns: number | null
  over_best: number | null
  registers: number | null
  spills: number | null
  shared_bytes: number | null
  error: string | null
}

/** One autotuning run. `row` is the context it was made in; null where the tree lacks it. */
export interface TuningRun {
  kernel: string
  key: string[]
  path: string[]
  row: number | null
  interpreted: boolean
  winner: number | null
  best_ns: number | null
  over_next: number | null
  over_median: number | null
  over_worst: number | null
  failed: number
  configs: TunedConfig[]
}

/** The autotuning runs of a profile, in the order in which they were made. */
export interface AutotunePart {
  runs: TuningRun[]
}

/** Who did the work on a lane. */
export type LaneKind = "host" | "graph" | "device" | "sm" | "warp"

/** A lane with the number of its spans and the start of the first. */
export interface LanePart {
  group: string
  name: string
  kind: LaneKind
  count: number
  first_ns: number
}

/** What a span is; the value is its category in chrome traces. */
export type SpanKind = "scope" | "kernel" | "metric" | "copy" | "graph" | "launch" | "cta" | "other"

/** What spans share, each combination once. */
export interface LookColumns {
  name: string
  kind: string
  row: string
  args: string
}

/** Pairs of spans by source; both columns are differences to the pair before. */
export interface FlowColumns {
  count: number
  source: string
  target: string
  correlation: string | null
}

/** Gaps of a lane whose stream stood still; `lane` is null where all of the device did. */
export interface GapRow {
  lane: number | null
  group: string
  count: number
  first_ns: number
  sums_ns: number[]
}

/** Gaps row by row and by start, times as differences. */
export interface GapColumns {
  causes: string[]
  rows: GapRow[]
  delta_ns: string
  duration_ns: string
  cause: string
}

/** Shares of the wall time. */
export interface WallPart {
  wall_ns: number
  busy: number
  overlap: number
  outside: number
  launch_bound: number | null
  idle: number[]
}

/** The timeline of a profile that was recorded as a trace. */
export interface TracePart {
  extent_ns: [number, number]
  base_time_ns: string | null
  lanes: LanePart[]
  kinds: SpanKind[]
  count: number
  delta_ns: string
  duration_ns: string
  look: string
  names: string[]
  library: number[]
  looks: LookColumns
  args: (Record<string, number | string | number[]>)[]
  args_left_out: number
  flows: FlowColumns
  gaps: GapColumns
  shares: WallPart | null
}

/** How samples were taken and what was lost; null: the file does not say. */
export interface SamplingFacts {
  samples: number
  period_cycles: number | null
  window_ns: number | null
  every_ns: number | null
  dropped: number | null
  overflows: number | null
  non_user: number | null
  left_out: number
  is_divided: boolean
}

/** Samples with one reason, by its number. */
export type ReasonCount = [reason: number, samples: number]

/** One instruction; `places` are numbers of source lines, the innermost first. */
export type InstructionRow = [offset: number, text: string, places: number[], samples: number, latency: number, reasons: ReasonCount[]]

/** One compiled code of a kernel with its instructions, by offset; all, or the hottest. */
export interface CodeOfKernel {
  symbol: string
  arch: number | null
  samples: number
  contexts: number | null
  remark: string
  listed: string
  instructions: InstructionRow[]
}

/** A sampled kernel; `remark` says why its lines are not known, and is empty where they are. */
export interface KernelSamples {
  name: string
  title: string
  samples: number
  remark: string
  codes: CodeOfKernel[]
}

/** Samples of one kernel in one stack of lines; `places` is empty where no line is known. */
export type SampledStack = [kernel: number, places: number[], samples: number, latency: number, reasons: ReasonCount[]]

/** A region that a kernel recorded, at its line; `share` is of its kernel's outermost. */
export type RegionPlace = [place: number, kernel: string, name: string, share: number | null]

/** Why a warp does not issue, in words. */
export type ReasonMeaning = [name: string, meaning: string, remedy: string]

/** A line of a file, by its number. */
export type LinePlace = [file: number, line: number]

/** How a file relates to the one that was recorded. */
export type TextState = "same" | "not checked" | "changed" | "gone"

/** Lines of a file that follow each other. */
export type TextChunk = [first: number, lines: string[]]

/** A file with samples or regions, and its text. Other than `is_user` ones are only inlined. */
export interface SourceFile {
  path: string
  state: TextState
  remark: string
  is_user: boolean
  count: number
  chunks: TextChunk[]
}

/** What was sampled, by kernel and stack of lines; lists are named by place elsewhere. */
export interface SourcePart {
  sampling: SamplingFacts | null
  kernels: KernelSamples[]
  seen: SampledStack[]
  regions: RegionPlace[]
  reasons: ReasonMeaning[]
  places: LinePlace[]
  functions: string[]
  files: SourceFile[]
}

/** One region. Quantiles and extremes are of one passage, in cycles; null: not known. */
export interface RegionRow {
  name: string
  file: string
  line: number
  kind: string
  depth: number
  count: number | null
  every: string
  cycles: number | null
  share: number | null
  p10: number | null
  p50: number | null
  p90: number | null
  min: number | null
  max: number | null
  mean_ns: number | null
  per_warp: number | null
}

/** Numbers that a kernel recorded under one name; mean and extremes are of the finite ones. */
export interface ValueRow {
  name: string
  count: number
  not_finite: number
  mean: number | null
  min: number | null
  max: number | null
}

/** Shares of the time in which multiprocessors that ran something were busy. */
export interface BusyShares {
  mean: number
  median: number
  least: number
  largest: number
}

/** The CTAs of one launch: where they ran, how long, how evenly; null: not known. */
export interface CtaFacts {
  count: number
  sms: number
  waves: number | null
  length_ns: number | null
  p50_ns: number | null
  p99_ns: number | null
  tail_ns: number | null
  busy: BusyShares | null
}

/** The CTAs of the last launch that was read, where only sums of them are known. */
export interface LastCtas {
  facts: CtaFacts
  per_sm: (number | null)[]
  active: number[]
}

/** One place that reads or writes global memory. */
export interface AccessRow {
  name: string
  kind: string
  file: string
  line: number
  tensor: string
  accesses: number
  bytes: number
  share: number | null
}

/** Accesses to one tensor by address: counts, and the bytes that those moved where known. */
export interface HeatColumns {
  tensor: string
  bytes: number
  accesses: number
  bin_bytes: number
  touched: number
  bins: string
  byte_bins: string | null
}

/** What one kernel recorded in one context and mode. */
export interface KernelRecords {
  rows: number[]
  names: string[]
  title: string
  context: string[]
  mode: string
  facts: string[]
  marks: string[]
  mark: string
  regions: RegionRow[]
  region_notes: string[]
  error_cycles: number | null
  values: ValueRow[]
  ctas: LastCtas | null
  accesses: AccessRow[]
  access_notes: string[]
  heat: HeatColumns[]
}

/** Passages of warps through regions; those of CTA n from `first[n]` up to `first[n + 1]`. */
export interface PassageColumns {
  first: string
  warp: string
  line: string
  name: string
  start: string
  duration: string
}

/** One launch with a place in columns for each CTA, by start. */
export interface Launch {
  name: string
  title: string
  context: string[]
  kernel: number | null
  rank: number | null
  device: number
  start_ns: number
  duration_ns: number
  is_timed: boolean
  first_ns: number
  last_ns: number
  ctas: CtaFacts
  number: string
  sm: string
  start: string
  duration: string
  regions: PassageColumns | null
}

/** The launches that fit into a page, by start, and how much of others does not. */
export interface Launches {
  shown: Launch[]
  left_out: number
  without_regions: number
  region_names: string[]
}

/** Kernels by cycles, and the launches of a trace whose CTAs are known. */
export interface InKernelPart {
  kernels: KernelRecords[]
  launches: Launches
}

/** One process of a merged profile. What its file did not say is empty or None. */
export interface Rank {
  /** its number */
  rank: number
  /** the file it came from */
  source: string
  /** where it ran */
  host: string
  /** its process */
  pid: number | null
  /** name of its device */
  device: string
  /** of all its kernels */
  time_ns: number | null
  /** how many ran */
  kernels: number | null
  /** events */
  lost: number
}

/** How the times of whole ranks spread; `slowest` is a place in the list of ranks. */
export interface RankTimes {
  least_ns: number
  median_ns: number
  largest_ns: number
  slowest: number
}

/** Entries whose slowest rank is furthest from the median come first. */
export interface SpreadColumns {
  at: string
  least: string
  median: string
  largest: string
  excess: string
  slowest: string
  times: string
  left_out: number
}

/** How the ranks of a merged profile spread, in all, in every kernel and in every context. */
export interface RanksPart {
  metric: string
  ranks: Rank[]
  times: RankTimes | null
  names: string[]
  titles: string[]
  kernels: SpreadColumns
  contexts: SpreadColumns
}

/** The times of all steps on the host, of all processes together, in nanoseconds. */
export interface StepTimes {
  count: number
  kept: number
  median_ns: number
  p90_ns: number
  largest_ns: number
  slowest: number
  slowest_rank: number | null
  work_median_ns: number | null
}

/** The steps of one process by number, from 0 on. */
export interface StepsOfRank {
  rank: number | null
  count: number
  start_ns: string
  duration_ns: string
  gpu_time_ns: string | null
  names: string[]
}

/** The steps that the program marked with `proton.step()`. */
export interface StepsPart {
  times: StepTimes
  series: StepsOfRank[]
}

/** All that a page has of one profile; null where the profile has nothing for a part. */
export interface ProfileParts {
  source: string
  tree: TreePart
  folds: FoldsPart | null
  library: LibraryPart | null
  names: Record<string, ShownName>
  summary: SummaryPart
  kernels: KernelsPart | null
  work: WorkPart | null
  roofline: RooflinePart | null
  tuning: TuningPart | null
  autotune: AutotunePart | null
  trace: TracePart | null
  sampled: SourcePart | null
  in_kernel: InKernelPart | null
  ranks: RanksPart | null
  steps: StepsPart | null
}

/** What is known of one of the profiles. */
export interface DiffSide {
  source: string
  devices: string[]
  start_time_ns: number | null
  lost: number
}

/** The runs of one side. */
export interface DiffRuns {
  total_ns: number
  count: number | null
  mean_ns: number | null
}

/** After minus before. Half widths are of intervals of confidence; null: too little is known. */
export interface DiffChange {
  verdict: string
  before: DiffRuns | null
  after: DiffRuns | null
  change_ns: number
  half_width_ns: number | null
  by_speed_ns: number | null
  speed_half_width_ns: number | null
  expected_ns: number | null
  basis: string | null
}

/** A kernel in both profiles; `launches` are the attributes that changed: before and after. */
export interface DiffKernel extends DiffChange {
  name: string
  kind: FrameKind
  launches: Record<string, [number | string | number[] | null, number | string | number[] | null]>
}

/** A context in both profiles, by its rows there. */
export interface DiffScope extends DiffChange {
  path: string[]
  before_row: number
  after_row: number
}

/** The second profile against the first; what changed most comes first. */
export interface DiffPart {
  confidence: number
  before: DiffSide
  after: DiffSide
  runs_ratio: number
  total: DiffChange
  kernels: DiffKernel[]
  new: DiffKernel[]
  gone: DiffKernel[]
  scopes: DiffScope[]
  more_scopes: number
  notes: string[]
  is_host: boolean
}

/** The JSON of a page's container. */
export interface PageData {
  format: string
  made_by: string
  profiles: ProfileParts[]
  diff: DiffPart | null
  columns: Record<string, [string, number, number]>
}

/** One recording of a folder; null: not known. */
export interface FolderRow {
  name: string
  link: string
  kind: string
  is_open: boolean
  device: string
  kernels: number | null
  time_ns: number | null
  problem: string
  note: string
  size_bytes: number
  changed_s: number
}

/** The index of a folder, newest first; `problem` is one line on top of it. */
export interface FolderData {
  name: string
  path: string
  problem: string
  rows: FolderRow[]
}
