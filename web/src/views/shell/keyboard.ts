/** Keys that work everywhere; the view that is shown is asked first. */
import { isDark, matches, metric, page, profile, search, selectRow, selection, theme, view } from "../../state"
import { tableStep } from "../widgets/table"
import type { View } from "../widgets/view"
import { SEARCH_ID, isHelpOpen } from "./header"
import { VIEWS } from "./registry"

/** Listen from now on. Returns what ends it. */
export function followKeys(): () => void {
  window.addEventListener("keydown", onKey)
  return () => window.removeEventListener("keydown", onKey)
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  const target = event.target as HTMLElement | null
  if (target?.closest("input, textarea, select") !== null && target !== null) {
    if (event.key === "Escape") {
      if (target.id === SEARCH_ID) search.value = ""
      target.blur()
    }
    if (target.id !== SEARCH_ID) return
    if (event.key === "Enter" && VIEWS.find((each) => each.id === view.value)?.goToHit?.() !== true) selectNextMatch()
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
    target.blur() // on to what was found
  }
  const [current, shown] = [page.value, profile.value]
  const isShown = (each: View): boolean => current !== null && shown !== null && each.isPresent(current, shown)
  const own = VIEWS.find((each) => each.id === view.value && isShown(each))
  if (own?.onKey?.(event) === true || stepTable(event.key) || common(event)) event.preventDefault()
}

/** Up and down go through the rows of a table. */
function stepTable(key: string): boolean {
  if (tableStep.current === null || (key !== "ArrowUp" && key !== "ArrowDown")) return false
  tableStep.current(key === "ArrowUp" ? -1 : 1)
  return true
}

/** Select the heaviest context that fits the search; if it is selected already, the one after it. */
function selectNextMatch(): void {
  const shown = profile.value
  const hits = matches.value
  if (shown === null || hits === null) return
  const weights = shown.totals(metric.value)
  const rows = [...hits.keys()].filter((row) => hits[row] === 1)
  if (rows.length === 0) return
  rows.sort((a, b) => (weights[b] || 0) - (weights[a] || 0))
  const at = selection.value?.kind === "node" ? rows.indexOf(selection.value.row) : -1
  selectRow(rows[(at + 1) % rows.length] as number)
}

function common(event: KeyboardEvent): boolean {
  const current = page.value
  const shown = profile.value
  if (current === null || shown === null) return false
  if (event.key === "/") {
    const field = document.getElementById(SEARCH_ID) as HTMLInputElement | null
    field?.focus()
    field?.select()
    return true
  }
  if (event.key === "?") {
    isHelpOpen.value = !isHelpOpen.value
    return true
  }
  if (event.key === "Escape") {
    if (isHelpOpen.value) isHelpOpen.value = false
    else if (search.value !== "") search.value = ""
    else selection.value = null
    return true
  }
  if (event.key === "d") {
    theme.value = isDark.value ? "light" : "dark"
    return true
  }
  const wanted = VIEWS.find((each) => each.key === event.key) // one with nothing to show says what it needs
  if (wanted === undefined) return false
  view.value = wanted.id
  return true
}
