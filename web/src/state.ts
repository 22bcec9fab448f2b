/** What the page shows now: signals that all views read and write, mirrored in the address.
 *
 * The address (`#view=flame&sel=node:12`) can be shared and is restored on load; going to another
 * view or profile is a step that the back button takes back.
 */
import { batch, computed, effect, signal } from "@preact/signals"
import type { Page, Profile } from "./model"

/** What is selected, in all views at once. Kernels go by their name in the file. */
export type Selection =
  | { kind: "node"; row: number }
  | { kind: "kernel"; name: string }
  | { kind: "span"; index: number }

export type Theme = "auto" | "light" | "dark"

export const page = signal<Page | null>(null)
export const profileIndex = signal(0)
export const view = signal("summary")
/** The metric that widths and shares are of; null: the profile's first. */
export const metricChoice = signal<string | null>(null)
export const selection = signal<Selection | null>(null)
export const search = signal("")
export const theme = signal<Theme>("auto")
/** Where each view stands, in its own words; use `setZoom`. */
export const zoom = signal<Readonly<Record<string, string>>>({})
/** One line that the reader should know of, such as a file that is still being written. */
export const notice = signal("")

export const profile = computed<Profile | null>(() => page.value?.profiles[profileIndex.value] ?? null)

/** The metric that views show; empty where the profile measured nothing. */
export const metric = computed<string>(() => {
  const known = profile.value?.metrics ?? []
  const chosen = metricChoice.value
  return chosen !== null && known.includes(chosen) ? chosen : (known[0] ?? "")
})

/** How a span of the timeline is found in the tree; the view of the timeline sets it. */
export const rowOfSpan = signal<((profile: Profile, index: number) => number | null) | null>(null)

/** The row of the selection, where it is one context; null for a kernel of many. */
export const selectedRow = computed<number | null>(() => {
  const chosen = selection.value
  const shown = profile.value
  if (chosen === null || shown === null) return null
  if (chosen.kind === "node") return chosen.row < shown.size ? chosen.row : null
  if (chosen.kind === "span") return rowOfSpan.value?.(shown, chosen.index) ?? null
  const rows = shown.rowsOfKernel(chosen.name)
  return rows.length === 1 ? (rows[0] ?? null) : null
})

/** The kernel or copy of the selection, by its name in the file; null where it is none. */
export const selectedKernel = computed<string | null>(() => {
  const shown = profile.value
  if (selection.value?.kind === "kernel") return selection.value.name
  const row = selectedRow.value
  return shown !== null && row !== null && shown.isWork(row) ? shown.rawName(row) : null
})

/** Whether a name fits the search; null where nothing is searched for. `/x/` is an expression. */
export const matcher = computed<((name: string) => boolean) | null>(() => matcherOf(search.value))

/** Places of the names, as a file has them, that fit the search. */
export function fittingNames(of: Profile, names: readonly string[]): number[] {
  const fits = matcher.value
  return [...names.keys()].filter((at) => fits === null || fits(names[at] as string) || fits(of.shown(names[at] as string)))
}

/** 1 for every row that fits the search; null where nothing is searched for. */
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
    found[row] = hit
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
  const expression = /^\/(.+)\/$/.exec(wanted)?.[1]
  if (expression !== undefined) {
    try {
      const pattern = new RegExp(expression, "i")
      return (name) => pattern.test(name)
    } catch {
      return () => false
    }
  }
  const lower = wanted.toLowerCase()
  return (name) => name.toLowerCase().includes(lower)
}

// ---- the address ----

/** The state as the part of an address behind `#`. */
export function toHash(): string {
  const words = new URLSearchParams()
  if (view.value !== "summary") words.set("view", view.value)
  if (profileIndex.value !== 0) words.set("profile", String(profileIndex.value))
  if (metricChoice.value !== null) words.set("metric", metricChoice.value)
  const chosen = selection.value
  if (chosen?.kind === "node") words.set("sel", `node:${chosen.row}`)
  if (chosen?.kind === "kernel") words.set("sel", `kernel:${chosen.name}`)
  if (chosen?.kind === "span") words.set("sel", `span:${chosen.index}`)
  if (search.value !== "") words.set("search", search.value)
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
  view.value = words.get("view") ?? "summary"
  const index = number(words.get("profile"))
  profileIndex.value = index < (page.value?.profiles.length ?? 1) ? index : 0
  metricChoice.value = words.get("metric")
  selection.value = selectionOf(words.get("sel") ?? "")
  search.value = words.get("search") ?? ""
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
