/** Keys that work everywhere; the view that is shown is asked first. */
import { isDark, page, profile, search, selection, theme, view } from "../state"
import { SEARCH_ID } from "./header"
import { isHelpOpen } from "./help"
import { VIEWS } from "./registry"
import type { View } from "./view"

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
    if (event.key === "Enter" && target.id === SEARCH_ID) target.blur()
    return
  }
  const [current, shown] = [page.value, profile.value]
  const isShown = (each: View): boolean => current !== null && shown !== null && each.isPresent(current, shown)
  const own = VIEWS.find((each) => each.id === view.value && isShown(each))
  if (own?.onKey?.(event) === true || common(event)) event.preventDefault()
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
