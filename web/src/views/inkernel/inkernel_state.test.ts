import { expect, it } from "vitest"
import type { InKernelPart, KernelRecords, Launch } from "../../schema"
import { entriesOf, readChoice, writeChoice } from "./inkernel_state"

it("remembers what was chosen in few letters", () => {
  const all = { entry: 2, launch: 0, cta: 31, range: [100, 250] as const, warps: null }
  expect(writeChoice(all)).toBe("2.0.31.100-250")
  expect(readChoice("2.0.31.100-250")).toEqual(all)
  const some = { entry: null, launch: null, cta: 7, range: null, warps: null }
  expect(readChoice(writeChoice(some))).toEqual(some)
  expect(writeChoice({ entry: null, launch: null, cta: null, range: null, warps: null })).toBe("")
})

it("remembers what is seen of warps, with and without what is seen of the launch", () => {
  const both = { entry: 0, launch: null, cta: 3, range: [1, 9] as const, warps: [20, 41] as const }
  expect(writeChoice({ ...both, warps: [20.7, 40.2] })).toBe("0..3.1-9.w20-41")
  expect(readChoice("0..3.1-9.w20-41")).toEqual(both)
  expect(readChoice("0..3.w20-41")).toEqual({ ...both, range: null })
  expect(readChoice("0..3.w41-20").warps).toBe(null)
})

it("takes nothing from an address that makes no sense", () => {
  const nothing = { entry: null, launch: null, cta: null, range: null, warps: null }
  for (const text of ["", "x", "1.2", "-1.0.0", "1e9.0.0", "1.1.1.9-"]) expect(readChoice(text)).toEqual(nothing)
  expect(readChoice("1.1.1.9-3").range).toBe(null)
})

const kernel = (title: string, mark = ""): KernelRecords => ({
  rows: [1], names: [title], title, context: ["step"], mode: "ops", facts: [], marks: [], mark, regions: [],
  region_notes: [], error_cycles: null, values: [], ctas: null, accesses: [], access_notes: [], heat: [],
})

const CTAS = { count: 1, sms: 1, waves: null, length_ns: null, p50_ns: null, p99_ns: null, tail_ns: null, busy: null }

const launch = (name: string, of: number | null, rank: number | null = null): Launch => ({
  name, title: name, context: ["step"], kernel: of, rank, device: 0, start_ns: 0, duration_ns: 1, is_timed: true,
  first_ns: 0, last_ns: 1, ctas: CTAS, number: "", sm: "", start: "", duration: "", regions: null,
})

it("puts launches with what their kernel recorded, and others by name and place", () => {
  const part: InKernelPart = {
    kernels: [kernel("mm", "(! spills)")],
    launches: {
      shown: [launch("mm", 0), launch("add", null, 0), launch("add", null, 1), launch("mm", 0), launch("add", null, 1)],
      left_out: 0, without_regions: 0, region_names: [],
    },
  }
  expect(entriesOf(part).map(({ title, where, record, launches, mark }) => [title, where, record, launches, mark])).toEqual([
    ["mm", "", 0, [0, 3], "(! spills)"],
    ["add", "rank 0", null, [1], ""],
    ["add", "rank 1", null, [2, 4], ""],
  ])
})
