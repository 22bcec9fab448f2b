import { describe, expect, it } from "vitest"
import type { TracePart } from "../../schema"
import type { Column } from "../../unpack"
import { Timeline, firstAtLeast } from "./spans"

const COLUMNS: Record<string, Column> = {
  delta: Uint32Array.of(0, 0, 0, 60),
  duration: Uint32Array.of(40, 5, 20, 20),
  look: Uint16Array.of(0, 1, 2, 2),
  name: Uint32Array.of(0, 1, 2),
  kind: Uint8Array.of(0, 0, 1),
  row: Int32Array.of(1, -1, 3),
  args: Int32Array.of(-1, -1, 0),
  source: Uint32Array.of(0, 1),
  target: Int32Array.of(3, -1),
  correlation: Uint32Array.of(71, 0),
  gapDelta: Uint32Array.of(0, 30),
  gapDuration: Uint32Array.of(30, 10),
  cause: Uint8Array.of(0, 3),
}

const PART: TracePart = {
  extent_ns: [10, 100],
  base_time_ns: null,
  lanes: [
    { group: "Host", name: "CPU Thread 0", kind: "host", count: 2, first_ns: 60 },
    { group: "GPU", name: "stream 7", kind: "device", count: 2, first_ns: 10 },
  ],
  kinds: ["scope", "kernel"],
  count: 4,
  delta_ns: "delta",
  duration_ns: "duration",
  look: "look",
  names: ["step", "launch matmul", "matmul"],
  looks: { name: "name", kind: "kind", row: "row", args: "args" },
  args: [{ grid: [1, 1, 1] }],
  args_left_out: 0,
  library: [2],
  flows: { count: 2, source: "source", target: "target", correlation: "correlation" },
  gaps: {
    causes: ["host busy", "waiting for a copy", "waiting for another stream", "launch latency", "not known"],
    rows: [{ lane: 1, group: "GPU", count: 2, first_ns: 30, sums_ns: [30, 0, 0, 10, 0] }],
    delta_ns: "gapDelta",
    duration_ns: "gapDuration",
    cause: "cause",
  },
  shares: null,
}

const TIMELINE = new Timeline(PART, (id) => COLUMNS[id] as Column)

describe("a timeline", () => {
  it("has its times from differences, lane by lane", () => {
    expect([...TIMELINE.starts]).toEqual([60, 60, 10, 70])
    expect([...TIMELINE.ends]).toEqual([100, 65, 30, 90])
    expect(TIMELINE.lanes.map((lane) => [lane.from, lane.to])).toEqual([[0, 2], [2, 4]])
  })

  it("knows what spans share", () => {
    expect([TIMELINE.name(3), TIMELINE.kind(3), TIMELINE.row(3), TIMELINE.args(3)]).toEqual(["matmul", "kernel", 3, { grid: [1, 1, 1] }])
    expect([TIMELINE.row(1), TIMELINE.args(1)]).toEqual([null, null])
    expect(TIMELINE.row(99)).toBeNull()
    expect(TIMELINE.laneOf(1)).toBe(0)
    expect(TIMELINE.laneOf(2)).toBe(1)
  })

  it("knows what launched what", () => {
    expect(TIMELINE.launched(0)).toEqual([3])
    expect(TIMELINE.launched(1)).toEqual([2])
    expect(TIMELINE.launchedBy(3)).toEqual([0])
    expect(TIMELINE.launchedBy(0)).toEqual([])
  })

  it("knows the correlation id of both ends of a launch", () => {
    expect([0, 3].map((span) => TIMELINE.correlation(span))).toEqual([71, 71])
    expect([1, 2].map((span) => TIMELINE.correlation(span))).toEqual([null, null])
    const older = new Timeline({ ...PART, flows: { ...PART.flows, correlation: null } }, (id) => COLUMNS[id] as Column)
    expect(older.correlation(0)).toBeNull()
  })

  it("knows which spans are frames of libraries", () => {
    expect([0, 1, 2].map((look) => TIMELINE.isLibrary(look))).toEqual([false, false, true])
  })

  it("knows all the calls that launched one span", () => {
    const several = { ...COLUMNS, source: Uint32Array.of(0, 1), target: Int32Array.of(3, 0) }
    const timeline = new Timeline(PART, (id) => (several as Record<string, Column>)[id] as Column)
    expect(timeline.launchedBy(3)).toEqual([0, 1])
    expect(timeline.launchedBy(99)).toEqual([])
  })

  it("has gaps as intervals of their lane", () => {
    const [gaps] = TIMELINE.gaps
    expect([gaps?.lane, [...(gaps?.starts ?? [])], [...(gaps?.ends ?? [])], [...(gaps?.causes ?? [])]]).toEqual([
      1,
      [30, 60],
      [60, 70],
      [0, 3],
    ])
  })
})

describe("a search", () => {
  it("finds the first place that is not below a value, within limits", () => {
    const sorted = Float64Array.of(1, 3, 3, 5)
    expect([0, 1, 3, 4, 6].map((value) => firstAtLeast(sorted, value))).toEqual([0, 0, 1, 3, 4])
    expect(firstAtLeast(sorted, 0, 2)).toBe(2)
    expect(firstAtLeast(sorted, 9, 0, 2)).toBe(2)
  })
})
