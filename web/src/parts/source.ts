/** The part `source`, as render/page/source.py makes it: what was sampled, by kernel and stack of lines. */
import type { Profile } from "../model"

/** Number of a reason and samples, the most frequent first. */
export type ReasonCounts = [reason: number, samples: number][]

/** Kernel, places (the innermost line first; none where no line is known), samples, latency, reasons. */
export type Seen = [kernel: number, places: number[], samples: number, latency: number, reasons: ReasonCounts]

/** Offset in the kernel, text, places, samples, latency, reasons. */
export type Instruction = [
  offset: number,
  text: string,
  places: number[],
  samples: number,
  latency: number,
  reasons: ReasonCounts,
]

export interface Code {
  symbol: string
  arch: number | null
  samples: number
  contexts: number | null
  remark: string
  /** The hottest ones, by offset. */
  instructions: Instruction[]
}

export interface SampledKernel {
  /** As in the document. */
  name: string
  title: string
  samples: number
  /** Why its lines are not known; empty where they are. */
  remark: string
  codes: Code[]
}

export interface SourceFile {
  path: string
  state: "same" | "not checked" | "changed" | "gone"
  remark: string
  /** Kernels are written here; other files are only inlined. */
  is_user: boolean
  /** Lines of the file. */
  count: number
  chunks: [first: number, lines: string[]][]
}

export interface SourcePart {
  /** As above a view in the terminal; problems begin with `! `. */
  remarks: string[]
  kernels: SampledKernel[]
  seen: Seen[]
  reasons: [name: string, meaning: string, remedy: string][]
  places: [file: number, line: number][]
  /** The function of each place; empty where it is not known. */
  functions: string[]
  files: SourceFile[]
}

export function sourceOf(profile: Profile): SourcePart | null {
  return profile.part<SourcePart>("source")
}
