/** What the flame graph shows: which way up, in which order, zoomed to what; and the tree for it. */
import { computed, signal } from "@preact/signals"
import { type Named, pairsOf } from "../../layout/flame/pairs"
import { Sandwich } from "../../layout/flame/sandwich"
import { type FlameTree, Grouped, type Order, TopDown, countBefore, matchedWidth, numberNames, widthsOf } from "../../layout/flame/tree"
import { type Folds, foldsOf } from "../../layout/groups"
import type { Profile } from "../../model"
import { baseName, printable } from "../../names"
import { countsTuning, folds, groupsOf, hidesLibrary, matches, metric, page, profile, profileIndex, regroup, selectedRow, selectedRows, selection, setZoom, zoom } from "../../state"
import { shortName } from "../widgets/facts"

const ID = "flame"
const PARTS = 1e9

/** As the address has it: `c` a sandwich, `r` recorded order, `d` colours of the difference, `z<row>` zoomed, `w<from>-<to>` this part of the width, in billionths.
 *
 * In a sandwich `z<row>-<depth>` is a context of the name in the middle, and how many of its callers it is
 * narrowed to, counting itself; `b<row>` is a context below that it is narrowed to.
 */
export interface FlameState {
  isSandwich: boolean
  order: Order
  /** Whether colours tell what changed between two profiles. */
  isDiff: boolean
  row: number
  depth: number
  callee: number
  /** The part of the width that is shown, as shares of it; null: all. */
  window: readonly [number, number] | null
}

/** Where nothing is zoomed to. */
export const WHOLE = { row: 0, depth: 0, callee: 0, window: null } as const

export const state = computed<FlameState>(() => stateOf(zoom.value[ID] ?? ""))

export function stateOf(text: string): FlameState {
  const words = text.split(".")
  const find = (pattern: RegExp): RegExpExecArray | undefined => words.map((word) => pattern.exec(word)).find((match) => match !== null) ?? undefined
  const place = find(/^z(\d{1,9})(?:-(\d{1,9}))?$/)
  const window = find(/^w(\d{1,10})-(\d{1,10})$/)
  const [from, to] = [Number(window?.[1] ?? 0) / PARTS, Number(window?.[2] ?? PARTS) / PARTS]
  return {
    window: window === undefined || !(from < to) || to > 1 ? null : [from, to],
    isSandwich: words.includes("c"),
    order: words.includes("r") ? "recorded" : "widest",
    isDiff: words.includes("d"),
    row: Number(place?.[1] ?? 0),
    depth: Number(place?.[2] ?? 0),
    callee: Number(find(/^b(\d{1,9})$/)?.[1] ?? 0),
  }
}

export function textOf(of: FlameState): string {
  const words: string[] = []
  if (of.isSandwich) words.push("c")
  if (of.order === "recorded") words.push("r")
  if (of.isDiff) words.push("d")
  if (of.row > 0) words.push(of.isSandwich ? `z${of.row}-${of.depth}` : `z${of.row}`)
  if (of.isSandwich && of.callee > 0) words.push(`b${of.callee}`)
  if (of.window !== null) words.push(`w${of.window.map((share) => Math.round(share * PARTS)).join("-")}`)
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
  /** The tree of one name or of all; null where contexts stand from the root down. */
  sandwich: Sandwich | null
  /** What is shown as one; null where each context stands by itself. */
  folds: Folds | null
}

/** What a box is called where the name of its context does not say it: `step_*` for several numbers, `forward  model.py` for several lines, `matmul` for several devices. */
export function titleOf({ of, tree, folds: known, sandwich }: Flames, box: number): string | null {
  const row = tree.row(box)
  const raw = of.rawName(row)
  const title = known?.title(sandwich === null ? box : (known.of[row] as number)) ?? null
  if (title !== null || sandwich === null) return title
  if (of.mark(row) !== "" && Array.from(tree.rows(box)).some((each) => of.mark(each) !== of.mark(row))) return of.shown(raw)
  const place = of.kind(row) === "p" ? of.place(row) : null
  return place === null || !Array.from(tree.rows(box)).some((each) => of.rawName(each) !== raw) ? null : `${place[2]}  ${baseName(place[0])}`
}

/** Whether a box is not of a name but of all. */
export function isEverything({ tree }: Flames, box: number): boolean {
  return tree.row(box) === 0
}

/** The names from the middle of a sandwich to a box below it, or from one above it to the middle; of the view from the root those above. */
export function wayNames(of: Flames, box: number): string[] {
  const names: string[] = []
  const isCaller = of.tree.depth(box) < 0
  for (let at = of.tree.parent(box); at >= 0 && !isEverything(of, at); at = of.tree.parent(at)) {
    names.push(printable(titleOf(of, at) ?? shortName(of.of, of.tree.row(at))))
  }
  return isCaller ? names : names.reverse()
}

/** The box of a context, in the view from the root. */
export function boxOf({ folds: known }: Flames, row: number): number {
  return known === null ? row : (known.of[row] ?? 0)
}

/** The box of the selection, in the view from the root; null where it is none. */
export function selectedBox(of: Flames): number | null {
  const chosen = selection.value
  if (chosen?.kind === "group") return of.folds === null ? null : chosen.group
  return selectedRow.value === null ? null : boxOf(of, selectedRow.value)
}

/** A context of what is selected, also of a kernel of many; 0 where nothing is. */
export function selectedContext(of: Flames): number {
  const chosen = selection.value
  const [boxed, row] = [focus.value, selectedRow.value]
  if (of.sandwich !== null && boxed !== null) return of.tree.row(boxed)
  if (chosen?.kind === "group") return selectedRows.value?.[0] ?? 0
  return row ?? (chosen?.kind === "kernel" ? (of.of.rowsOfKernel(chosen.name)[0] ?? 0) : 0)
}

/** Show other contexts as one. From the root down, the view stands elsewhere then; a name stays in the middle. */
export function show(to: Parameters<typeof regroup>[0]): void {
  focus.value = null
  regroup(to)
  change(state.value.isSandwich ? { window: null } : WHOLE)
}

const widths = computed<Float64Array | null>(() => {
  const shown = profile.value
  const name = metric.value
  if (shown === null || name === "") return null
  const kind = shown.metricKind(name)
  return kind === "property" ? null : widthsOf(shown, shown.own(name), kind === "inclusive")
})

const order = computed(() => state.value.order)
const isSandwich = computed(() => state.value.isSandwich)
const middle = computed(() => textOf({ ...state.value, order: "widest", isDiff: false, window: null })) // a text: equal ones are no change

const numbered = new WeakMap<object, Int32Array>()

/** A number for the name of each row: contexts that are one have one, and so have the lines of a function. */
function namesOf(of: Profile, known: Folds | null): Int32Array {
  let found = numbered.get(known ?? of)
  if (found === undefined) {
    numbered.set(known ?? of, (found = numberNames(of.size, (row) => nameIn(of, known, row))))
  }
  return found
}

function nameIn(of: Profile, known: Folds | null, row: number): string {
  const title = known?.title(known.of[row] as number) ?? null
  const place = title === null && of.kind(row) === "p" ? of.place(row) : null
  return title ?? (place === null || place[2] === "" ? of.rawName(row) : `${place[0]}@${place[2]}`)
}

/** What to draw; null where the metric does not add up or nothing was measured. */
export const flames = computed<Flames | null>(() => {
  const shown = profile.value
  const found = widths.value
  if (shown === null || found === null || !((found[0] ?? 0) > 0)) return null
  const known = folds.value
  const sandwich = isSandwich.value ? sandwichOf(shown, found, stateOf(middle.value), known) : null
  const tree = sandwich ?? (known === null ? new TopDown(shown, found, order.value) : new Grouped(known, found, order.value))
  return { of: shown, tree, widths: found, sandwich, folds: known }
})

/** What two profiles have of a box: the first and the second. */
export interface Both {
  before: number
  after: number
}

/** The other of two profiles, with what it has of each box of the view from the root; null where colours tell no difference. */
const other = computed<{ pairs: Int32Array; widths: Float64Array } | null>(() => {
  const [drawn, current] = [flames.value, page.value]
  if (drawn === null || drawn.sandwich !== null || current === null || current.diff === null || !state.value.isDiff) return null
  const second = current.profiles[1 - profileIndex.value]
  const twin = second === undefined ? null : countsTuning.value ? second.withTuning() : second
  if (twin === null || twin.metricKind(metric.value) !== drawn.of.metricKind(metric.value)) return null
  const known = folds.value === null ? null : groupsOf(twin)
  const found = widthsOf(twin, twin.own(metric.value), twin.metricKind(metric.value) === "inclusive")
  return { pairs: pairsOf(named(drawn.of, drawn.folds), named(twin, known)), widths: known === null ? found : known.sums(found) }
})

/** Contexts, or what is shown in their place, with names that stay where lines of a file move. */
function named(of: Profile, known: Folds | null): Named {
  const { size, parents, ends, depths } = known ?? of
  const numbers = namesOf(of, known)
  const texts = new Map<number, string>()
  const nameOf = (box: number): string => {
    const row = known === null ? box : (known.rows(box)[0] ?? 0)
    const number = numbers[row] as number
    const text = texts.get(number) ?? nameIn(of, known, row)
    texts.set(number, text)
    return text
  }
  return { size, parents, ends, depths, nameOf }
}

/** What both profiles have of a box; null where colours tell no difference. */
export function bothOf(of: Flames, box: number): Both | null {
  const found = other.value
  if (found === null) return null
  const twin = found.pairs[box] ?? -1
  const [own, others] = [of.tree.width(box), twin < 0 ? 0 : (found.widths[twin] as number)]
  return profileIndex.value === 0 ? { before: own, after: others } : { before: others, after: own }
}

/** How a box changed: 1 is new, -1 is gone, 0 is as before. */
export function changeShare({ before, after }: Both): number {
  return Math.max(before, after) > 0 ? (after - before) / Math.max(before, after) : 0
}

/** The sandwich that the address names; of everything where that has nothing of the metric. */
function sandwichOf(of: Profile, found: Float64Array, { row, depth, callee }: FlameState, known: Folds | null): Sandwich {
  const kept = hidesLibrary.value ? foldsOf(of, { hidesLibrary: true, isUnfolded: true }) : null // a group for each context that is shown
  const names = namesOf(of, known)
  const [shape, numbers, sizes] = kept === null ? [of, names, found] : [kept, Int32Array.from({ length: kept.size }, (_, at) => names[kept.rows(at)[0] as number] as number), kept.sums(found)]
  const place = (each: number): number => (kept === null ? each : (kept.of[each] ?? 0))
  if (row > 0 && row < of.size && place(row) > 0) {
    const made = new Sandwich(shape, numbers, sizes, { row: place(row), callers: Math.max(depth - 1, 0), callee: place(callee) })
    if (made.width(0) > 0) return made
  }
  return new Sandwich(shape, numbers, sizes)
}

/** Whether the name of a context is in the middle of a sandwich. */
export function isInMiddle(of: Flames, row: number): boolean {
  const names = namesOf(of.of, of.folds)
  return of.sandwich !== null && of.sandwich.middle !== null && names[of.tree.row(0)] === names[row]
}

/** The box that takes the whole width; the root where the address names none that is there. */
export const zoomed = computed<number>(() => {
  const drawn = flames.value
  const { row } = state.value
  if (drawn === null || row <= 0 || row >= drawn.of.size) return 0
  if (drawn.sandwich !== null) return drawn.sandwich.narrowedBelow
  const box = boxOf(drawn, row)
  return drawn.tree.width(box) > 0 ? box : 0
})

/** How much of the whole fits the search; null where nothing is searched for. */
export const matched = computed<number | null>(() => {
  const hits = matches.value
  const drawn = flames.value
  return hits === null || drawn === null ? null : matchedWidth(drawn.of, drawn.widths, hits)
})

/** 1 for every box of the view from the root that holds a context which fits the search. */
const hits = computed<Uint8Array | null>(() => {
  const [found, known] = [matches.value, folds.value]
  if (found === null || known === null) return found
  const boxes = new Uint8Array(known.size)
  for (let row = 0; row < found.length; row++) if (found[row] === 1) boxes[known.of[row] as number] = 1
  return boxes
})

const counted = computed(() => (hits.value === null ? null : countBefore(hits.value)))

/** Whether a box stands for a context that fits the search; true where nothing is searched for. */
export function isMatch(of: Flames, box: number): boolean {
  const [found, boxes] = [matches.value, hits.value]
  if (found === null || boxes === null) return true
  return of.sandwich !== null ? Array.from(of.tree.rows(box)).some((row) => found[row] === 1) : boxes[box] === 1
}

/** Whether some of these boxes, or in the view from the root what is below them, fit the search. */
export function isHit(of: Flames, boxes: readonly number[]): boolean {
  const counts = counted.value
  if (counts === null) return false
  const { ends } = of.folds ?? of.of
  return boxes.some((box) => (of.sandwich !== null ? isMatch(of, box) : (counts[ends[box] as number] as number) > (counts[box] as number)))
}

/** The box that arrows go from, in a sandwich, where a context alone does not tell it. */
export const focus = signal<number | null>(null)

const before: string[] = []

function goTo(to: Partial<FlameState>): void {
  before.push(zoom.value[ID] ?? "")
  focus.value = null
  change({ window: null, ...to })
}

/** Zoom to a box: it takes the whole width; in a sandwich all that does not pass through it goes. */
export function zoomTo(box: number): void {
  const drawn = flames.value
  if (drawn === null) return
  const { tree, sandwich } = drawn
  const row = isEverything(drawn, box) ? 0 : tree.row(box)
  if (sandwich === null) {
    if (box !== zoomed.value || state.value.window !== null) goTo({ row })
  } else if (tree.depth(box) > 0) goTo({ callee: row })
  else if (box !== 0) goTo({ row: sandwich.called(box), depth: -tree.depth(box) + (sandwich.middle === null ? 0 : 1) })
  else if (sandwich.narrowedAbove + sandwich.narrowedBelow > 0) goTo({ depth: 1, callee: 0 })
}

/** Put the name of a context in the middle, with all its contexts; 0: everything. */
export function showSandwich(row: number): void {
  goTo({ isSandwich: true, row, depth: row === 0 ? 0 : 1, callee: 0 })
}

/** From the root down again. */
export function leaveSandwich(): void {
  goTo({ ...WHOLE, isSandwich: false })
  before.length = 0
}

/** Back to where the last zoom came from; false where there is nothing to go back to. */
export function zoomBack(): boolean {
  if (state.value.window !== null) {
    change({ window: null })
    return true
  }
  if (state.value.row === 0) {
    before.length = 0
    return false
  }
  const last = before.pop()
  focus.value = null
  change(last === undefined ? WHOLE : { ...stateOf(last), order: state.value.order })
  return true
}
