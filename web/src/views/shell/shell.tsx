/** The frame around every view: header, tabs, lines on problems, the view, the pane on the right. */
import { signal } from "@preact/signals"
import { Component, type VNode } from "preact"
import { useLayoutEffect } from "preact/hooks"
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
  const isPresent = (each: View): boolean => each.isPresent(current, shown)
  const chosen = VIEWS.find((each) => each.id === view.value) ?? (VIEWS[0] as View)
  const Chosen = chosen.Component
  return (
    <>
      <Header />
      <Tabs chosen={chosen} isPresent={isPresent} />
      <Lines />
      <div class="body">
        <main>
          <div id="view" role="tabpanel" class={`view ${chosen.id}`} aria-labelledby={`tab-${chosen.id}`}>
            <h2 class="unseen">{chosen.title}</h2>
            <Safe key={`${chosen.id} ${shown.source}`} title={chosen.title}>
              {isPresent(chosen) ? <Chosen /> : <p class="needs">{needsLine(chosen.id)}</p>}
            </Safe>
          </div>
        </main>
        <Details />
      </div>
      <Help />
      <Hover />
    </>
  )
}

const isAllShown = signal(false)

/** Warnings of the recording, and what the page itself has to say. */
function Lines(): VNode | null {
  const warnings = profile.value?.parts.summary.warnings ?? []
  const shown = isAllShown.value ? warnings : warnings.slice(0, MOST_WARNINGS)
  const more = warnings.length - MOST_WARNINGS
  if (warnings.length === 0 && notice.value === "") return null
  return (
    <div class="lines" role="status">
      {notice.value === "" ? null : <p>{printable(notice.value)}</p>}
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

/** Every view has its tab; of one with nothing to show it is grey, and the view says what to record. */
function Tabs({ chosen, isPresent }: { chosen: View; isPresent(view: View): boolean }): VNode {
  useLayoutEffect(() => document.getElementById(`tab-${chosen.id}`)?.scrollIntoView({ block: "nearest", inline: "nearest" }), [chosen])
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    const next = VIEWS[VIEWS.indexOf(chosen) + step]
    if (step === 0 || next === undefined) return
    event.preventDefault()
    view.value = next.id
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  return (
    <nav aria-label="views">
      <div role="tablist" aria-label="views" onKeyDown={onKeyDown}>
        {VIEWS.map((each) => (
          <button
            key={each.id}
            role="tab"
            id={`tab-${each.id}`}
            class={isPresent(each) ? "" : "without"}
            aria-selected={each === chosen}
            aria-controls="view"
            aria-keyshortcuts={each.key}
            data-key={each.key}
            tabIndex={each === chosen ? 0 : -1}
            title={isPresent(each) ? `key ${each.key}` : needsLine(each.id)}
            onClick={(event) => {
              view.value = each.id
              if (event.detail > 0) event.currentTarget.blur() // a mouse: arrows are the view's now
            }}
          >
            {each.title}
          </button>
        ))}
      </div>
    </nav>
  )
}
