import { describe, expect, it } from "vitest"
import type { Lane } from "./spans"
import type { LaneKind } from "../../schema"
import { GROUP_HEIGHT, LANE_GAP, TRACK_HEIGHT, closedAtFirst, groupsOf, rowsOf, visibleRows } from "./rows"

function lanes(...pairs: [string, LaneKind][]): Lane[] {
  return pairs.map(([group, kind], at) => ({ group, kind, name: `lane ${at}`, count: 0, first_ns: 0, from: 0, to: 0 }))
}

const BOTH = groupsOf(lanes(["Host", "host"], ["GPU", "device"], ["GPU", "device"]))

describe("rows", () => {
  it("stand in groups of neighbours", () => {
    expect(BOTH.map((group) => [group.name, group.lanes])).toEqual([["Host", [0]], ["GPU", [1, 2]]])
  })

  it("are as high as their lane is deep", () => {
    const { rows, height } = rowsOf(BOTH, new Set(), (lane) => [3, 1, 0][lane] as number)
    expect(rows.map((row) => row.lane)).toEqual([null, 0, null, 1, 2])
    expect(rows[1]?.height).toBe(3 * TRACK_HEIGHT + LANE_GAP)
    expect(rows[4]?.height).toBe(TRACK_HEIGHT + LANE_GAP)
    expect(height).toBe(2 * GROUP_HEIGHT + 5 * TRACK_HEIGHT + 3 * LANE_GAP)
  })

  it("grow on a large screen, as far as all of them fit", () => {
    const tracks = (room: number, depth: number): (number | undefined)[] => rowsOf(BOTH, new Set(), () => depth, room).rows.map((row) => row.track)
    expect(tracks(600, 1)).toEqual([17, 17, 17, 17, 17])
    expect(tracks(900, 1)).toEqual([17, 25, 17, 25, 25]) // heads stay
    expect(tracks(4000, 1)[1]).toBe(28)
    expect(tracks(900, 14)[1]).toBe(20)
    expect(tracks(900, 400)[1]).toBe(17)
  })

  it("of closed groups are their head alone", () => {
    expect(rowsOf(BOTH, new Set(["GPU"]), () => 1).rows.map((row) => row.lane)).toEqual([null, 0, null])
  })

  it("between two heights are found by search", () => {
    const rows = rowsOf(BOTH, new Set(), () => 1)
    expect(visibleRows(rows, 0, 1).map((row) => row.top)).toEqual([0])
    expect(visibleRows(rows, GROUP_HEIGHT, GROUP_HEIGHT + 1).map((row) => row.lane)).toEqual([0])
    expect(visibleRows(rows, 0, 9999).length).toBe(5)
    expect(visibleRows(rows, 9999, 19999)).toEqual([])
  })
})

describe("groups of insides of kernels", () => {
  it("are closed at first where they have many lanes, or there are many of them", () => {
    const sms = lanes(...Array.from({ length: 9 }, (): [string, LaneKind] => ["GPU SMs", "sm"]))
    expect([...closedAtFirst(groupsOf(sms))]).toEqual(["GPU SMs"])
    const warps = lanes(["CTA 0", "warp"], ["CTA 1", "warp"], ["CTA 2", "warp"])
    expect(closedAtFirst(groupsOf(warps)).size).toBe(3)
    expect(closedAtFirst(groupsOf(lanes(["CTA 0", "warp"]))).size).toBe(0)
  })

  it("are the only ones", () => {
    const hosts = lanes(...Array.from({ length: 50 }, (): [string, LaneKind] => ["Host", "host"]))
    expect(closedAtFirst(groupsOf(hosts)).size).toBe(0)
  })
})
