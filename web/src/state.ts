/** What the page shows now: signals that all views read and write, mirrored in the address.
 *
 * The address (`#view=flame&sel=node:12`) can be shared and is restored on load; going to another
 * view or profile is a step that the back button takes back.
 */
import { batch, computed, effect, signal } from "@preact/signals"
import { type Folds, foldsOf } from "./layout/groups"
import type { Page, Profile } from "./model"

/** What is selected, in all views at once. Kernels go by their name in the file. */
export type Selection =
  | { kind: "node"; row: number }
  | { kind: "kernel"; name: string }
  | { kind: "span"; index: number }
  | { kind: "group"; group: number } // contexts that are shown as one

export type Theme = "auto" | "light" | "dark"

export const page = signal<Page | null>(null)
export const profileIndex = signal(0)
export const view = signal("summary")
/** The metric that widths and shares are of; null: the profile's first. */
export const metricChoice = signal<string | null>(null)
export const selection = signal<Selection | null>(null)
export const search = signal("")
/** Whether siblings that only a number tells apart are shown one by one; use `regroup`. */
export const isUnfolded = signal(false)
/** Whether frames of libraries are left out; use `regroup`. */
export const hidesLibrary = signal(false)
export const theme = signal<Theme>("auto")
/** Where each view stands, in its own words; use `setZoom`. */
export const zoom = signal<Readonly<Record<string, string>>>({})
/** One line that the reader should know of, such as a file that is still being written. */
export const notice = signal("")

/** Whether what autotuning ran counts as the program's. */
export const countsTuning = signal(false)

export const profile = computed<Profile | null>(() => {
  const shown = page.value?.profiles[profileIndex.value] ?? null
  return countsTuning.value ? (shown?.withTuning() ?? null) : shown
})

/** The metric that views show; empty where the profile measured nothing. */
export const metric = computed<string>(() => {
  const known = profile.value?.metrics ?? []
  const chosen = metricChoice.value
  return chosen !== null && known.includes(chosen) ? chosen : (known[0] ?? "")
})

/** What the numbers of selected groups are of; null where nothing is shown as one. */
export function groupsOf(of: Profile): Folds | null {
  return foldsOf(of, { hidesLibrary: hidesLibrary.value, isUnfolded: isUnfolded.value })
}

/** What is shown as one; null where nothing is, or where the reader wants to see each context. */
export const folds = computed<Folds | null>(() => {
  const shown = profile.value
  const isEach = isUnfolded.value && !(hidesLibrary.value && (shown?.parts.library ?? null) !== null)
  return shown === null || isEach ? null : groupsOf(shown)
})

/** Whether a context is a frame of a library that is left out. */
export function isHidden(of: Profile, row: number): boolean {
  return hidesLibrary.value && (groupsOf(of)?.isInside(row) ?? false)
}

/** Show other contexts as one than before. What is selected stays. */
export function regroup(to: { isUnfolded?: boolean; hidesLibrary?: boolean }): void {
  const rows = selectedRows.value
  batch(() => {
    isUnfolded.value = to.isUnfolded ?? isUnfolded.value
    hidesLibrary.value = to.hidesLibrary ?? hidesLibrary.value
    const known = profile.value === null ? null : groupsOf(profile.value)
    if (rows !== null && known !== null) selectGroup(known, known.of[rows[0] as number] as number)
  })
}

/** How a span of the timeline is found in the tree; the view of the timeline sets it. */
export const rowOfSpan = signal<((profile: Profile, index: number) => number | null) | null>(null)

/** The row of the selection, where it is one context; null for a kernel of many. */
export const selectedRow = computed<number | null>(() => {
  const chosen = selection.value
  const shown = profile.value
  if (chosen === null || shown === null) return null
  if (chosen.kind === "node") return chosen.row < shown.size ? chosen.row : null
  if (chosen.kind === "span") return rowOfSpan.value?.(shown, chosen.index) ?? null
  if (chosen.kind === "group") return null
  const rows = shown.rowsOfKernel(chosen.name)
  return rows.length === 1 ? (rows[0] ?? null) : null
})

/** The contexts of a selection that is several shown as one; null for any other. */
export const selectedRows = computed<ArrayLike<number> | null>(() => {
  const known = profile.value === null || selection.value?.kind !== "group" ? null : groupsOf(profile.value)
  const rows = known?.rows(selection.value?.kind === "group" ? selection.value.group : -1)
  return rows === undefined || rows.length === 0 ? null : rows
})

/** The kernel or copy of the selection, by its name in the file; null where it is none. */
export const selectedKernel = computed<string | null>(() => {
  const shown = profile.value
  const chosen = selection.value
  if (chosen?.kind === "kernel") return chosen.name
  const row = chosen?.kind === "group" ? (selectedRows.value?.[0] ?? null) : selectedRow.value
  return shown !== null && row !== null && shown.isWork(row) ? shown.rawName(row) : null
})

/** Whether a name fits the search; null where nothing is searched for. `/x/` is an expression. */
export const matcher = computed<((name: string) => boolean) | null>(() => matcherOf(search.value))

/** Whether what is searched for is an expression that no browser reads. */
export const isBadSearch = computed<boolean>(() => {
  const expression = expressionIn(search.value)
  return expression !== undefined && patternOf(expression) === null
})

/** Places of the names, as a file has them, that fit the search. */
export function fittingNames(of: Profile, names: readonly string[]): number[] {
  const fits = matcher.value
  return [...names.keys()].filter((at) => fits === null || fits(names[at] as string) || fits(of.shown(names[at] as string)))
}

/** 1 for every row that is shown and fits the search; null where nothing is searched for. */
export const matches = computed<Uint8Array | null>(() => {
  const fits = matcher.value
  const shown = profile.value
  if (fits === null || shown === null) return null
  const found = new Uint8Array(shown.size)
  const known = new Map<string, number>()
  for (let row = 1; row < shown.size; row++) {
    const raw = shown.rawName(row)
    let hit = known.get(raw)
    if (hit === undefined) known.set(raw, (hit = fits(shown.shown(raw)) || fits(raw) ? 1 : 0))
    const isHit = hit === 1 || (shown.mark(row) !== "" && fits(shown.name(row)))
    found[row] = isHit && !isHidden(shown, row) ? 1 : 0
  }
  return found
})

const darkQuery = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)")
const prefersDark = signal(darkQuery?.matches ?? false)
darkQuery?.addEventListener("change", (event) => {
  prefersDark.value = event.matches
})
export const isDark = computed(() => (theme.value === "auto" ? prefersDark.value : theme.value === "dark"))

export function selectRow(row: number): void {
  selection.value = { kind: "node", row }
}

/** Select contexts that are shown as one; one alone is selected as itself. */
export function selectGroup(of: Folds, group: number): void {
  const rows = of.rows(group)
  selection.value = rows.length === 1 ? { kind: "node", row: rows[0] as number } : { kind: "group", group }
}

export function selectKernel(name: string): void {
  selection.value = { kind: "kernel", name }
}

let isStep = false

/** Remember where a view stands. `step`: the back button shall return to what was before. */
export function setZoom(of: string, value: string, step = false): void {
  if ((zoom.value[of] ?? "") === value) return
  isStep ||= step
  const { [of]: _before, ...others } = zoom.value
  zoom.value = value === "" ? others : { ...others, [of]: value }
}

/** A search as a test of names. */
export function matcherOf(query: string): ((name: string) => boolean) | null {
  const wanted = query.trim()
  if (wanted === "") return null
  const expression = expressionIn(wanted)
  if (expression !== undefined) {
    const pattern = patternOf(expression)
    return (name) => pattern?.test(name) ?? false
  }
  const lower = wanted.toLowerCase()
  return (name) => name.toLowerCase().includes(lower)
}

function expressionIn(query: string): string | undefined {
  return /^\/(.+)\/$/.exec(query.trim())?.[1]
}

function patternOf(expression: string): RegExp | null {
  try {
    return new RegExp(expression, "i")
  } catch {
    return null
  }
}

// ---- the address ----

/** What a page opens with: who asks for two profiles wants to know what changed. */
function firstView(): string {
  return page.value !== null && page.value.diff !== null ? "diff" : "summary"
}

/** The state as the part of an address behind `#`. */
export function toHash(): string {
  const words = new URLSearchParams()
  if (view.value !== firstView()) words.set("view", view.value)
  if (profileIndex.value !== 0) words.set("profile", String(profileIndex.value))
  if (metricChoice.value !== null) words.set("metric", metricChoice.value)
  if (countsTuning.value) words.set("autotuning", "counted")
  const chosen = selection.value
  if (chosen?.kind === "node") words.set("sel", `node:${chosen.row}`)
  if (chosen?.kind === "kernel") words.set("sel", `kernel:${chosen.name}`)
  if (chosen?.kind === "span") words.set("sel", `span:${chosen.index}`)
  if (chosen?.kind === "group") words.set("sel", `group:${chosen.group}`)
  if (search.value !== "") words.set("search", search.value)
  if (isUnfolded.value) words.set("unfold", "1")
  if (hidesLibrary.value) words.set("hide", "library")
  if (theme.value !== "auto") words.set("theme", theme.value)
  for (const [of, value] of Object.entries(zoom.value)) words.set(`zoom.${of}`, value)
  return words.toString()
}

/** The state that an address tells; what it does not tell is as at the beginning. */
export function fromHash(hash: string): void {
  batch(() => restore(hash))
}

function restore(hash: string): void {
  const words = new URLSearchParams(hash.replace(/^#/, ""))
  const number = (text: string | null): number => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : 0)
  view.value = words.get("view") ?? firstView()
  const index = number(words.get("profile"))
  profileIndex.value = index < (page.value?.profiles.length ?? 1) ? index : 0
  metricChoice.value = words.get("metric")
  countsTuning.value = words.get("autotuning") === "counted"
  selection.value = selectionOf(words.get("sel") ?? "")
  search.value = words.get("search") ?? ""
  isUnfolded.value = words.get("unfold") === "1"
  hidesLibrary.value = words.get("hide") === "library"
  const said = words.get("theme")
  theme.value = said === "dark" || said === "light" ? said : "auto"
  const zooms: Record<string, string> = {}
  for (const [key, value] of words) if (key.startsWith("zoom.")) zooms[key.slice(5)] = value
  zoom.value = zooms
}

function selectionOf(text: string): Selection | null {
  const colon = text.indexOf(":")
  const [kind, rest] = [text.slice(0, colon), text.slice(colon + 1)]
  if (kind === "kernel" && rest !== "") return { kind, name: rest }
  if (!/^\d{1,9}$/.test(rest)) return null
  if (kind === "node") return { kind, row: Number(rest) }
  if (kind === "group") return { kind, group: Number(rest) }
  return kind === "span" ? { kind, index: Number(rest) } : null
}

/** Keep address and state equal from now on. Returns what ends it. */
export function followAddress(): () => void {
  fromHash(location.hash)
  let [lastView, lastProfile] = [view.value, profileIndex.value]
  let timer = 0
  let isGoingBack = false
  // Whether the address tells the state already, for who looks at it from outside.
  const tell = (isCurrent: boolean): void => {
    document.documentElement.dataset["address"] = isCurrent ? "current" : "changing"
  }
  const write = (): void => {
    tell(true)
    const words = toHash()
    const wanted = words === "" ? location.pathname + location.search : `#${words}`
    const push = isStep || view.value !== lastView || profileIndex.value !== lastProfile
    ;[isStep, lastView, lastProfile] = [false, view.value, profileIndex.value]
    if (`#${words}` === (location.hash || "#")) return
    try {
      if (push) history.pushState(null, "", wanted)
      else history.replaceState(null, "", wanted)
    } catch {
      // A page inside a notebook has no address of its own.
    }
  }
  const stop = effect(() => {
    toHash() // reads every signal that the address tells
    clearTimeout(timer)
    if (isGoingBack) {
      ;[isStep, lastView, lastProfile] = [false, view.value, profileIndex.value]
      return tell(true)
    }
    tell(false)
    if (isStep || view.value !== lastView || profileIndex.value !== lastProfile) write()
    else timer = window.setTimeout(write, 150)
  })
  const back = (): void => {
    isGoingBack = true
    fromHash(location.hash)
    isGoingBack = false
  }
  window.addEventListener("popstate", back)
  window.addEventListener("hashchange", back)
  return () => {
    stop()
    clearTimeout(timer)
    window.removeEventListener("popstate", back)
    window.removeEventListener("hashchange", back)
  }
}
