/** Where the lanes of a timeline stand from top to bottom, and which groups are closed. */
import type { Lane } from "./spans"
import type { LaneKind } from "../../schema"

export const GROUP_HEIGHT = 22
/** Pixels of a track, at least. */
export const TRACK_HEIGHT = 17
const MOST_TRACK = 28
const PART = 36 // of the height: so many tracks a screen shows at least
export const LANE_GAP = 5
/** Groups of insides of kernels with more lanes than this are closed at first. */
const OPEN_LANES = 4

export interface Row {
  top: number
  height: number
  /** Pixels of a track in it. */
  track: number
  group: string
  /** Place of the lane; null for the head of a group. */
  lane: number | null
}

export interface Rows {
  rows: readonly Row[]
  height: number
}

export interface Group {
  name: string
  lanes: readonly number[]
  kind: LaneKind
}

/** Neighbouring lanes of one group. */
export function groupsOf(lanes: readonly Lane[]): Group[] {
  const groups: { name: string; lanes: number[]; kind: LaneKind }[] = []
  lanes.forEach((lane, at) => {
    const last = groups.at(-1)
    if (last !== undefined && last.name === lane.group) last.lanes.push(at)
    else groups.push({ name: lane.group, lanes: [at], kind: lane.kind })
  })
  return groups
}

/** The groups that are closed until somebody opens them: multiprocessors and warps, where many. */
export function closedAtFirst(groups: readonly Group[]): Set<string> {
  const isInside = (group: Group): boolean => group.kind === "sm" || group.kind === "warp"
  const inside = groups.filter(isInside)
  const many = inside.length > 2
  return new Set(inside.filter((group) => many || group.lanes.length > OPEN_LANES).map((group) => group.name))
}

/** Rows from top to bottom; `depthOf` tells how many tracks a lane has. Tracks grow on large screens, as far as all fit into `room`. */
export function rowsOf(groups: readonly Group[], closed: ReadonlySet<string>, depthOf: (lane: number) => number, room = 0): Rows {
  const lanes = groups.flatMap((group) => (closed.has(group.name) ? [] : group.lanes))
  const tracks = lanes.reduce((sum, lane) => sum + Math.max(1, depthOf(lane)), 0)
  const left = room - groups.length * GROUP_HEIGHT - lanes.length * LANE_GAP
  const most = Math.min(MOST_TRACK, Math.floor(room / PART), Math.floor(left / Math.max(tracks, 1)))
  const track = Math.max(TRACK_HEIGHT, most)
  const rows: Row[] = []
  let top = 0
  for (const group of groups) {
    rows.push({ top, height: GROUP_HEIGHT, track: TRACK_HEIGHT, group: group.name, lane: null })
    top += GROUP_HEIGHT
    if (closed.has(group.name)) continue
    for (const lane of group.lanes) {
      const height = Math.max(1, depthOf(lane)) * track + LANE_GAP
      rows.push({ top, height, track, group: group.name, lane })
      top += height
    }
  }
  return { rows, height: top }
}

/** The rows between two heights. */
export function visibleRows({ rows }: Rows, from: number, to: number): readonly Row[] {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle] as Row
    if (row.top + row.height <= from) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < rows.length && (rows[end] as Row).top < to) end++
  return rows.slice(low, end)
}
