/** The frame around every view: header, tabs, lines on problems, the view, the pane on the right. */
import { signal } from "@preact/signals"
import { Component, type VNode } from "preact"
import { printable } from "../../names"
import { notice, page, profile, view } from "../../state"
import { Hover } from "../widgets/hover"
import { type View, needsLine } from "../widgets/view"
import { Details } from "./details"
import { Header, Help } from "./header"
import { VIEWS } from "./registry"

const MOST_WARNINGS = 2

export function Shell(): VNode {
  const current = page.value
  const shown = profile.value
  if (current === null || shown === null) return <Header />
  const present = VIEWS.filter((each) => each.isPresent(current, shown))
  const chosen = present.find((each) => each.id === view.value) ?? present[0]
  const View = chosen?.Component
  return (
    <>
      <Header />
      <Tabs of={present} chosen={chosen} />
      <Lines missing={chosen?.id === view.value ? "" : needsLine(view.value)} />
      <div class="body">
        <div id="view" role="tabpanel" class={`view ${chosen?.id ?? ""}`} aria-labelledby={`tab-${chosen?.id ?? ""}`}>
          <Safe key={`${chosen?.id} ${shown.source}`} title={chosen?.title ?? ""}>
            {View === undefined ? null : <View />}
          </Safe>
        </div>
        <Details />
      </div>
      <Help />
      <Hover />
    </>
  )
}

const isAllShown = signal(false)

/** Warnings of the recording, and what the page itself has to say. */
function Lines({ missing }: { missing: string }): VNode | null {
  const warnings = profile.value?.parts.summary.warnings ?? []
  const shown = isAllShown.value ? warnings : warnings.slice(0, MOST_WARNINGS)
  const more = warnings.length - MOST_WARNINGS
  if (warnings.length === 0 && notice.value === "" && missing === "") return null
  return (
    <div class="lines" role="status">
      {notice.value === "" ? null : <p>{printable(notice.value)}</p>}
      {missing === "" ? null : <p>{missing}</p>}
      {shown.map((warning, index) => (
        <p key={index} title={printable(warning)}>
          ! {printable(warning)}
        </p>
      ))}
      {more > 0 ? (
        <button class="link" onClick={() => (isAllShown.value = !isAllShown.value)}>
          {isAllShown.value ? "fewer" : `and ${more} more`}
        </button>
      ) : null}
    </div>
  )
}

/** A view that fails says so in its place, and leaves the others alone. */
class Safe extends Component<{ title: string }, { why: string }> {
  override state = { why: "" }

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ why: error instanceof Error ? error.message : String(error) })
  }

  override render(): VNode {
    const { why } = this.state
    if (why === "") return <>{this.props.children}</>
    return <p class="problem">The view “{this.props.title}” failed: {printable(why)}. The other views still work.</p>
  }
}

function Tabs({ of, chosen }: { of: readonly View[]; chosen: View | undefined }): VNode {
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
