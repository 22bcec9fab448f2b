/** What the flame graph shows: which way up, in which order, zoomed to what; and the tree for it. */
import { computed, signal } from "@preact/signals"
import { shownWidth } from "../../layout/flame/boxes"
import { type FlameTree, Inverted, type Order, TopDown, countBefore, matchedWidth, numberNames, widthsOf } from "../../layout/flame/tree"
import type { Profile } from "../../model"
import { matches, metric, profile, setZoom, zoom } from "../../state"

const ID = "flame"

/** As the address has it: `c` callers, `r` recorded order, `z<row>` or `z<row>-<depth>` zoomed, `n<from>-<to>` to these children. */
export interface FlameState {
  isCallers: boolean
  order: Order
  /** A context, and in the callers' view how many levels above it. */
  row: number
  depth: number
  /** The children that are shown; null: all. */
  range: readonly [number, number] | null
}

export const state = computed<FlameState>(() => stateOf(zoom.value[ID] ?? ""))

export function stateOf(text: string): FlameState {
  const words = text.split(".")
  const place = words.map((word) => /^z(\d{1,9})(?:-(\d{1,9}))?$/.exec(word)).find((match) => match !== null)
  const range = words.map((word) => /^n(\d{1,9})-(\d{1,9})$/.exec(word)).find((match) => match !== null)
  return {
    isCallers: words.includes("c"),
    order: words.includes("r") ? "recorded" : "widest",
    row: Number(place?.[1] ?? 0),
    depth: Number(place?.[2] ?? 0),
    range: range === undefined ? null : [Number(range?.[1]), Number(range?.[2])],
  }
}

export function textOf(of: FlameState): string {
  const words: string[] = []
  if (of.isCallers) words.push("c")
  if (of.order === "recorded") words.push("r")
  if (of.row > 0) words.push(of.isCallers ? `z${of.row}-${of.depth}` : `z${of.row}`)
  if (of.range !== null) words.push(`n${of.range[0]}-${of.range[1]}`)
  return words.join(".")
}

export function change(to: Partial<FlameState>, step = true): void {
  setZoom(ID, textOf({ ...state.value, ...to }), step)
}

/** A tree with the widths of its contexts. */
export interface Flames {
  of: Profile
  tree: FlameTree
  widths: Float64Array
  isCallers: boolean
}

const widths = computed<Float64Array | null>(() => {
  const shown = profile.value
  const name = metric.value
  if (shown === null || name === "") return null
  const kind = shown.metricKind(name)
  return kind === "property" ? null : widthsOf(shown, shown.own(name), kind === "inclusive")
})

const order = computed(() => state.value.order)
const isCallers = computed(() => state.value.isCallers)

const numbered = new WeakMap<Profile, Int32Array>()

function namesOf(of: Profile): Int32Array {
  let found = numbered.get(of)
  if (found === undefined) numbered.set(of, (found = numberNames(of.size, (row) => of.rawName(row))))
  return found
}

/** What to draw; null where the metric does not add up or nothing was measured. */
export const flames = computed<Flames | null>(() => {
  const shown = profile.value
  const found = widths.value
  if (shown === null || found === null || !((found[0] ?? 0) > 0)) return null
  const tree = isCallers.value
    ? new Inverted(shown, namesOf(shown), found)
    : new TopDown(shown, found, order.value)
  return { of: shown, tree, widths: found, isCallers: isCallers.value }
})

/** The box that is zoomed to; the root where the address names none that is there. */
export const zoomed = computed<number>(() => {
  const drawn = flames.value
  const { row, depth } = state.value
  if (drawn === null || row <= 0 || row >= drawn.of.size) return 0
  if (drawn.tree instanceof Inverted) return Math.max(drawn.tree.find(row, depth), 0)
  return drawn.tree.width(row) > 0 ? row : 0
})

/** The children of the zoomed box that are shown; null: all, or the address names none that are there. */
export const zoomedRange = computed<readonly [number, number] | null>(() => {
  const drawn = flames.value
  const { range } = state.value
  return drawn === null || range === null || !(shownWidth(drawn.tree, zoomed.value, range) > 0) ? null : range
})

/** How much of the whole fits the search; null where nothing is searched for. */
export const matched = computed<number | null>(() => {
  const hits = matches.value
  const drawn = flames.value
  return hits === null || drawn === null ? null : matchedWidth(drawn.of, drawn.widths, hits)
})

const counted = computed(() => (matches.value === null ? null : countBefore(matches.value)))

/** Whether some of these children of a box, or in the view from the root what is below them, fit the search. */
export function isHit(of: Flames, box: number, from: number, many: number): boolean {
  const counts = counted.value
  if (counts === null) return false
  const children = of.tree.children(box)
  for (let at = from; at < from + many; at++) {
    const row = of.tree.row(children[at] as number)
    const end = of.isCallers ? row + 1 : (of.of.ends[row] as number)
    if ((counts[end] as number) > (counts[row] as number)) return true
  }
  return false
}

/** The box that arrows go from, in the callers' view, where a context alone does not tell it. */
export const focus = signal<number | null>(null)

const before: string[] = []

/** Zoom to a box, or to some of its children. */
export function zoomTo(box: number, range: readonly [number, number] | null = null): void {
  const drawn = flames.value
  if (drawn === null || (box === zoomed.value && range === null && zoomedRange.value === null)) return
  before.push(zoom.value[ID] ?? "")
  change({ row: drawn.tree.depth(box) === 0 ? 0 : drawn.tree.row(box), depth: drawn.tree.depth(box), range })
}

/** Back to where the last zoom came from; false where there is nothing to go back to. */
export function zoomBack(): boolean {
  if (zoomed.value === 0 && zoomedRange.value === null) {
    before.length = 0
    return false
  }
  const last = stateOf(before.pop() ?? "")
  if (last.isCallers === isCallers.value) change({ row: last.row, depth: last.depth, range: last.range })
  else change({ row: 0, depth: 0, range: null })
  return true
}
