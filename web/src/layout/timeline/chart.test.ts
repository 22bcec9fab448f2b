import { describe, expect, it } from "vitest"
import type { Column } from "../../unpack"
import { Timeline } from "./spans"
import type { SpanKind, TracePart } from "../../schema"
import { Chart } from "./chart"
import { spansIn, sumsIn } from "./sums"
import { type Row, TRACK_HEIGHT, rowsOf } from "./rows"

/** A host with a scope and a launch in it; a stream with two kernels and a gap between them. */
function chart(change: (part: TracePart, columns: Record<string, Column>) => void = () => undefined): Chart {
  const columns: Record<string, Column> = {
    delta: Uint32Array.of(0, 10, 0, 60),
    duration: Uint32Array.of(100, 20, 20, 20),
    look: Uint16Array.of(0, 1, 2, 2),
    name: Uint32Array.of(0, 1, 2),
    kind: Uint8Array.of(0, 0, 1),
    row: Int32Array.of(1, 2, 3),
    none: Int32Array.of(-1, -1, -1),
    empty: Uint32Array.of(),
    gapDelta: Uint32Array.of(0),
    gapDuration: Uint32Array.of(40),
    cause: Uint8Array.of(0),
  }
  const part: TracePart = {
    extent_ns: [0, 100],
    base_time_ns: null,
    lanes: [
      { group: "Host", name: "CPU Thread 0", kind: "host", count: 2, first_ns: 0 },
      { group: "GPU", name: "stream 7", kind: "device", count: 2, first_ns: 10 },
    ],
    kinds: ["scope", "kernel"],
    count: 4,
    delta_ns: "delta",
    duration_ns: "duration",
    look: "look",
    names: ["step", "launch matmul", "matmul"],
    looks: { name: "name", kind: "kind", row: "row", args: "none" },
    args: [],
    args_left_out: 0,
    library: [],
    flows: { count: 0, source: "empty", target: "empty", correlation: null },
    gaps: {
      causes: ["host busy"],
      rows: [{ lane: 1, group: "GPU", count: 1, first_ns: 30, sums_ns: [40] }],
      delta_ns: "gapDelta",
      duration_ns: "gapDuration",
      cause: "cause",
    },
    shares: null,
  }
  change(part, columns)
  return new Chart(new Timeline(part, (id) => columns[id] as Column))
}

/** The same stream below a lane of its graphs, with a span of that kind around each kernel and a bit more. */
function withGraphs(kind: SpanKind): Chart {
  return chart((part, columns) => {
    part.lanes = [
      { group: "GPU", name: "graphs 7", kind: "graph", count: 2, first_ns: 10 },
      { group: "GPU", name: "stream 7", kind: "device", count: 2, first_ns: 10 },
    ]
    part.kinds = [kind, "kernel"]
    part.gaps.rows = [{ lane: null, group: "GPU", count: 1, first_ns: 30, sums_ns: [40] }]
    columns["delta"] = Uint32Array.of(0, 60, 0, 60)
    columns["duration"] = Uint32Array.of(25, 25, 20, 20)
  })
}

function hit(time: number, lane: number, depth: number, slack = 0): unknown {
  const made = chart()
  const { rows } = rowsOf(made.groups, new Set(), (each) => made.depth(each))
  const row = rows.find((each) => each.lane === lane) as Row
  return made.hit(row, row.top + depth * TRACK_HEIGHT + 3, time, slack)
}

describe("a stretch of time", () => {
  it("is summed up by name, what reaches beyond it with the part inside", () => {
    expect(sumsIn(chart(), [20, 75])).toEqual([
      { name: "step", kind: "scope", count: 1, ns: 55, longest: 0 },
      { name: "matmul", kind: "kernel", count: 2, ns: 15, longest: 2 },
      { name: "launch matmul", kind: "scope", count: 1, ns: 10, longest: 1 },
    ])
    expect(sumsIn(chart(), [30, 70], [1])).toEqual([])
  })

  it("lists its spans lane by lane, and says how many there are", () => {
    expect(spansIn(chart(), [20, 75], 10)).toEqual({ spans: [0, 1, 2, 3], count: 4 })
    expect(spansIn(chart(), [20, 75], 2)).toEqual({ spans: [0, 1], count: 4 })
    expect(spansIn(chart(), [31, 69], 10)).toEqual({ spans: [0], count: 1 })
  })
})

describe("a chart", () => {
  it("has a track for every depth of a lane", () => {
    expect([0, 1].map((lane) => chart().depth(lane))).toEqual([2, 1])
  })

  it("tells what is under the pointer", () => {
    expect(hit(15, 0, 0)).toEqual({ kind: "span", span: 0 })
    expect(hit(15, 0, 1)).toEqual({ kind: "span", span: 1 })
    expect(hit(75, 1, 0)).toEqual({ kind: "span", span: 3 })
    expect(hit(50, 1, 0)).toEqual({ kind: "gap", of: 1, at: 0 })
    expect(hit(95, 1, 0)).toBeNull()
    expect(hit(50, 0, 1)).toBeNull()
  })

  it("finds a narrow span beside the pointer, but not across a gap that can be seen", () => {
    expect(hit(95, 1, 0, 10)).toEqual({ kind: "span", span: 3 })
    expect(hit(32, 1, 0, 5)).toEqual({ kind: "gap", of: 1, at: 0 })
    expect(hit(32, 1, 0, 50)).toEqual({ kind: "span", span: 2 })
  })

  it("knows the head of a group", () => {
    const made = chart()
    const [head] = rowsOf(made.groups, new Set(), () => 1).rows
    expect(made.hit(head as Row, 3, 50, 0)).toEqual({ kind: "group", group: "Host" })
  })

  it("knows the neighbours of a span", () => {
    expect(chart().placeOf(3)).toEqual({ lane: 1, depth: 0, before: 2, after: null })
    expect(chart().placeOf(1)).toEqual({ lane: 0, depth: 1, before: null, after: null })
    expect(chart().placeOf(99)).toBeNull()
  })

  it("knows what a gap ends with", () => {
    expect(chart().afterGap(1, 0)).toBe(3)
    expect(chart().afterGap(1, 9)).toBeNull()
    expect(chart().afterGap("none such", 0)).toBeNull()
  })

  it("knows what a span is in, and what is in it", () => {
    expect(chart().nested(1, true)).toBe(0)
    expect(chart().nested(0, false)).toBe(1)
    expect(chart().nested(0, true)).toBeNull()
    expect(chart().nested(1, false)).toBeNull()
    expect(chart().nested(99, true)).toBeNull()
  })

  it("finds marked spans one after the other, both ways", () => {
    const made = chart()
    const kernels = made.marks((look) => made.timeline.nameOfLook(look) === "matmul")
    expect(made.nextMarked(kernels, -1, true)).toBe(2)
    expect(made.nextMarked(kernels, 10, true)).toBe(3)
    expect(made.nextMarked(kernels, 70, true)).toBeNull()
    expect(made.nextMarked(kernels, 70, false)).toBe(2)
    expect(made.nextMarked(kernels, 10, false)).toBeNull()
    const all = made.marks(() => true)
    const seen: number[] = []
    for (let at: number | null = made.nextMarked(all, -1, true); at !== null; ) {
      seen.push(at)
      at = made.nextMarked(all, made.timeline.starts[at] as number, true)
    }
    expect(seen[0]).toBe(0)
    expect(seen).toContain(3)
    expect(made.nextMarked(made.marks(() => false), -1, true)).toBeNull()
  })

  it("sums up marked spans by their look", () => {
    const made = chart()
    const marks = made.marks((look) => made.timeline.nameOfLook(look) === "matmul")
    const [track] = made.tracks(1)
    expect(track === undefined ? null : [...marks.sums(track)].map(Math.round)).toEqual([0, 20, 40])
  })

  it("unites the lanes of a group", () => {
    expect([...chart().union("GPU").starts]).toEqual([10, 70])
    expect(chart().union("none such").starts.length).toBe(0)
  })

  it("takes scopes on a graph lane for no work, but replays that were timed as a whole", () => {
    const scopes = withGraphs("scope")
    expect([...scopes.union("GPU").ends]).toEqual([30, 90])
    expect(scopes.afterGap("GPU", 0)).toBe(3)
    const replays = withGraphs("graph")
    expect([...replays.union("GPU").ends]).toEqual([35, 95])
    expect(replays.afterGap("GPU", 0)).toBe(1)
  })
})
