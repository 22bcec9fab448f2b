/** The hatchet format and the page's container as types and constants; no code.
 *
 * TypeScript's side of files/schema.py and render/page/pack.py. What a file holds is `unknown`
 * until read.ts has looked at it.
 */

export { FORMAT_VERSION } from "./schema"
export const PAGE_FORMAT = "proton-page/1"

export const TIME_NS = "time (ns)"
export const CPU_TIME_NS = "cpu_time (ns)"
export const COUNT = "count"
export const CYCLES = "cycles"
export const DEVICE_ID = "device_id"
export const DEVICE_TYPE = "device_type"
export const NUM_SAMPLES = "num_samples"

/** What a frame names: root, scope, state, Python frame, kernel, copy, sampled line. */
export type KindLetter = "r" | "s" | "t" | "p" | "k" | "c" | "l"
export const KIND_LETTERS = "rstpkcl"

/** How values of a metric add up. */
export type MetricKind = "inclusive" | "exclusive" | "property"
export const METRIC_KINDS: readonly MetricKind[] = ["inclusive", "exclusive", "property"]

/** Element types of binary columns. */
export type ColumnType = "f64" | "f32" | "u32" | "i32" | "u16" | "u8"
export type Column = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array

/** The container's JSON, before anything of it is checked. */
export interface PageObject {
  format: string
  made_by: string
  profiles: ProfileObject[]
  diff: unknown
  columns: Record<string, [ColumnType, number, number]>
}

/** One profile of a page: its file's value, and what was computed of it. */
export interface ProfileObject {
  source: string
  document: unknown
  parts: Record<string, unknown>
}
