/** New data in place of the old: the page stays at what its reader was looking at. */
import { batch } from "@preact/signals"
import type { Page, Profile } from "./model"
import { groupsOf, page, profile, profileIndex, selection, zoom } from "./state"

/** Show `next`. What is selected stays, also where its row is another one now. */
export function renewPage(next: Page): void {
  const before = profile.value
  const chosen = selection.value
  batch(() => {
    page.value = next
    if (profileIndex.value >= next.profiles.length) profileIndex.value = 0
    const after = next.profiles[profileIndex.value]
    if (before === null || after === undefined) return
    zoom.value = Object.fromEntries(
      Object.entries(zoom.value).map(([of, words]) => [of, renewZoom(words, (row) => sameRow(before, after, row))]),
    )
    if (chosen === null) return
    if (chosen.kind === "node") {
      const row = sameRow(before, after, chosen.row)
      selection.value = row === null ? null : { kind: "node", row }
    } else if (chosen.kind === "group") {
      const row = sameRow(before, after, groupsOf(before)?.rows(chosen.group)[0] ?? before.size)
      const group = row === null ? undefined : groupsOf(after)?.of[row]
      selection.value = group === undefined ? null : { kind: "group", group }
    } else if (chosen.kind === "span") {
      selection.value = null // spans have no name of their own
    }
  })
}

/** Views that zoom to a row write it as `z<row>` or `b<row>`; a row that is gone takes its word with it. */
export function renewZoom(words: string, rowOf: (row: number) => number | null): string {
  const kept = words.split(".").map((word) => {
    const place = /^([zb])(\d{1,9})(-\d{1,9})?$/.exec(word)
    if (place === null) return word
    const row = rowOf(Number(place[2]))
    return row === null ? null : `${place[1]}${row}${place[3] ?? ""}`
  })
  return kept.filter((word) => word !== null).join(".")
}

/** The row of `after` on the path that `row` has in `before`; null where there is none. */
export function sameRow(before: Profile, after: Profile, row: number): number | null {
  let at = 0
  for (const step of before.path(row)) {
    const found = childLike(before, after, at, step)
    if (found === undefined) return null
    at = found
  }
  return row < before.size ? at : null
}

/** The child of that name; of several, the one at the same place among them. */
function childLike(before: Profile, after: Profile, parent: number, row: number): number | undefined {
  const name = before.rawName(row)
  const siblings = before.children(before.parents[row] as number)
  const place = siblings.filter((each) => each < row && before.rawName(each) === name).length
  return after.children(parent).filter((each) => after.rawName(each) === name)[place]
}
