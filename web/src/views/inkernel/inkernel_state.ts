/** Which kernel, launch and CTA the in-kernel view shows: from the selection, and its own choices. */
import { computed } from "@preact/signals"
import type { InKernelPart } from "../../schema"
import { profile, selectKernel, selectRow, selectedKernel, selectedRow, setZoom, zoom } from "../../state"

const ID = "inkernel"

/** A kernel in one context: what it recorded, and its launches in a trace. */
export interface Entry {
  title: string
  context: string[]
  /** Where it ran, where that is not the first device of one process. */
  where: string
  mark: string
  mode: string
  record: number | null
  launches: number[]
  names: string[]
  rows: number[]
}

/** Every kernel that recorded, in the order of the part; then launches of those that recorded no sums. */
export function entriesOf(part: InKernelPart): Entry[] {
  const entries: Entry[] = part.kernels.map((kernel, record) => ({
    title: kernel.title,
    context: kernel.context,
    where: "",
    mark: kernel.mark,
    mode: kernel.mode,
    record,
    launches: [],
    names: kernel.names,
    rows: kernel.rows,
  }))
  const others = new Map<string, Entry>()
  part.launches.shown.forEach((launch, at) => {
    const entry = launch.kernel === null ? undefined : entries[launch.kernel]
    if (entry !== undefined) {
      entry.launches.push(at)
      return
    }
    const where = [launch.rank === null ? "" : `rank ${launch.rank}`, launch.device === 0 ? "" : `device ${launch.device}`]
    const key = JSON.stringify([launch.name, launch.context, where])
    let made = others.get(key)
    if (made === undefined) {
      made = {
        title: launch.title,
        context: launch.context,
        where: where.filter((each) => each !== "").join(" "),
        mark: "",
        mode: "",
        record: null,
        launches: [],
        names: [launch.name],
        rows: [],
      }
      others.set(key, made)
      entries.push(made)
    }
    made.launches.push(at)
  })
  return entries
}

/** What the view remembers; null where nothing was chosen. */
export interface Choice {
  entry: number | null
  /** Place among the launches of the entry. */
  launch: number | null
  /** Place among the CTAs of the launch. */
  cta: number | null
  /** What is seen of the launch, in nanoseconds from its beginning; null: all. */
  range: readonly [number, number] | null
  /** What is seen of the warps of the CTA, likewise. */
  warps: readonly [number, number] | null
}

const NOTHING: Choice = { entry: null, launch: null, cta: null, range: null, warps: null }

export function readChoice(text: string): Choice {
  const found = /^(\d{0,6})\.(\d{0,6})\.(\d{0,9})(?:\.(\d{1,15})-(\d{1,15}))?(?:\.w(\d{1,15})-(\d{1,15}))?$/.exec(text)
  const number = (part: string | undefined): number | null => (part === undefined || part === "" ? null : Number(part))
  const range = (from: number | null, to: number | null): [number, number] | null => (from !== null && to !== null && from < to ? [from, to] : null)
  return {
    entry: number(found?.[1]),
    launch: number(found?.[2]),
    cta: number(found?.[3]),
    range: range(number(found?.[4]), number(found?.[5])),
    warps: range(number(found?.[6]), number(found?.[7])),
  }
}

export function writeChoice({ entry, launch, cta, range, warps }: Choice): string {
  if (entry === null && launch === null && cta === null && range === null && warps === null) return ""
  const [seen, seenWarps] = [rangeText(range), rangeText(warps)]
  return `${entry ?? ""}.${launch ?? ""}.${cta ?? ""}${seen === "" ? "" : `.${seen}`}${seenWarps === "" ? "" : `.w${seenWarps}`}`
}

/** A range as it stands in the address: whole nanoseconds that have all of it in them. */
export function rangeText(range: readonly [number, number] | null): string {
  return range === null ? "" : `${Math.floor(range[0])}-${Math.ceil(range[1])}`
}

export const choice = computed<Choice>(() => readChoice(zoom.value[ID] ?? ""))

export const part = computed<InKernelPart | null>(() => profile.value?.parts.in_kernel ?? null)
export const entries = computed<Entry[]>(() => (part.value === null ? [] : entriesOf(part.value)))

/** The entry that is shown: that of the selection, else the one chosen here, else the first. */
export const shownEntry = computed<number>(() => {
  const [known, row, kernel] = [entries.value, selectedRow.value, selectedKernel.value]
  const chosen = choice.value.entry
  const fits = (entry: Entry | undefined): boolean => entry !== undefined && kernel !== null && entry.names.includes(kernel)
  const byRow = row === null ? -1 : known.findIndex((entry) => entry.rows.includes(row))
  if (byRow >= 0) return byRow
  if (chosen !== null && known[chosen] !== undefined && (kernel === null || fits(known[chosen]))) return chosen
  const byName = known.findIndex(fits)
  if (byName >= 0) return byName
  return chosen !== null && known[chosen] !== undefined ? chosen : 0
})

/** What was chosen in the entry that is shown; choices in another one are not meant for it. */
export const here = computed<Choice>(() => {
  const { entry } = choice.value
  if (entry === null || entry === shownEntry.value) return choice.value
  return { ...NOTHING, entry }
})

/** Choose a launch, a CTA or a time of the entry that is shown. What is seen of warps is that of one CTA. */
export function chooseHere(change: Partial<Choice>, step = false): void {
  const warps = "cta" in change ? null : here.value.warps
  setZoom(ID, writeChoice({ ...here.value, warps, ...change, entry: shownEntry.value }), step)
}

/** Show an entry, and select its context or its kernel. */
export function showEntry(at: number): void {
  const entry = entries.value[at]
  setZoom(ID, writeChoice({ ...NOTHING, entry: at }), true)
  const row = entry?.rows[0]
  const shown = profile.value
  if (row !== undefined) selectRow(row)
  else if (entry !== undefined && shown !== null && (shown.rowsOfKernel(entry.names[0] ?? "").length > 0)) {
    selectKernel(entry.names[0] as string)
  }
}
