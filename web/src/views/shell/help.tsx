/** What the keys do, in a box that `?` opens. */
import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { view } from "../../state"
import { VIEWS } from "./registry"

export const isHelpOpen = signal(false)

const KEYS: readonly (readonly [string, string])[] = [
  ["1 – 9", "go to a view; ← → between tabs"],
  ["/", "search names; /x/ is an expression"],
  ["Enter", "in the search: select the heaviest hit, then the next"],
  ["↑ ↓", "select the one above or below"],
  ["Esc", "close, clear the search, let go of the selection"],
  ["d", "light or dark"],
  ["?", "this list"],
]

export function Help(): VNode | null {
  if (!isHelpOpen.value) return null
  const own = VIEWS.find((each) => each.id === view.value)
  return (
    <div class="help" role="dialog" aria-label="keys" onClick={() => (isHelpOpen.value = false)}>
      <dl>
        {[...KEYS, ...(own?.keys ?? [])].map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">The address tells view, selection, search and zoom: copy it to share what you see.</p>
    </div>
  )
}
