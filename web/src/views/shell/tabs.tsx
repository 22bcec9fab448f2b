/** The tabs; left and right go from one to the next. */
import type { VNode } from "preact"
import { view } from "../../state"
import type { View } from "../widgets/view"

export function Tabs({ of, chosen }: { of: readonly View[]; chosen: View | undefined }): VNode {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    const next = of[of.findIndex((each) => each === chosen) + step]
    if (step === 0 || next === undefined) return
    event.preventDefault()
    view.value = next.id
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  return (
    <nav role="tablist" aria-label="views" onKeyDown={onKeyDown}>
      {of.map((each) => (
        <button
          key={each.id}
          role="tab"
          id={`tab-${each.id}`}
          aria-selected={each === chosen}
          aria-controls="view"
          tabIndex={each === chosen ? 0 : -1}
          title={`key ${each.key}`}
          onClick={(event) => {
            view.value = each.id
            if (event.detail > 0) event.currentTarget.blur() // a mouse: arrows are the view's now
          }}
        >
          {each.title}
        </button>
      ))}
    </nav>
  )
}
