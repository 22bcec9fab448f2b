/** The line at the top: what was recorded, where and when, what was lost; search, metric, theme, and the list of keys. */
import { batch, signal } from "@preact/signals"
import type { VNode } from "preact"
import { type LiveState, liveState } from "../../live"
import type { Profile } from "../../model"
import { baseName, cutMiddle, distinctPaths, printable } from "../../names"
import { sameRow } from "../../renew"
import { isBadSearch, isDark, matches, metric, metricChoice, page, profile, profileIndex, search, selection, theme, view, zoom } from "../../state"
import { grouped, moment, plainName } from "../../units"
import { isOfSamples } from "../widgets/facts"
import { VIEWS } from "./registry"

export const SEARCH_ID = "search"

export function Header(): VNode {
  const shown = profile.value
  return (
    <header>
      <Home />
      {shown === null ? null : <Recorded of={shown} />}
      <span class="gap" />
      {shown === null ? null : <Tools of={shown} />}
    </header>
  )
}

/** The way back to the list of profiles, where a folder is served. */
function Home(): VNode {
  const at = location.protocol.startsWith("http") ? location.pathname.indexOf("/view/") : -1
  if (at < 0) return <span class="brand">proton</span>
  const go = (): void => location.assign(location.pathname.slice(0, at + 1))
  return <button class="brand link" title="all profiles of the folder" onClick={go}>‹ profiles</button>
}

/** Show another profile; what is selected stays selected where the other has it too. */
function switchTo(index: number): void {
  const before = profile.value
  const after = page.value?.profiles[index]
  const chosen = selection.value
  batch(() => {
    profileIndex.value = index
    zoom.value = {}
    if (before === null || after === undefined || chosen === null || chosen.kind === "kernel") return
    const row = chosen.kind === "node" ? sameRow(before, after, chosen.row) : null
    selection.value = row === null ? null : { kind: "node", row }
  })
}

function Recorded({ of }: { of: Profile }): VNode {
  const { summary } = of.parts
  const many = page.value?.profiles ?? []
  return (
    <>
      {many.length > 1 ? <h1 class="unseen">{printable(baseName(of.source))}</h1> : null}
      {many.length > 1 ? (
        <select
          aria-label="profile"
          value={profileIndex.value}
          onChange={(event) => switchTo(Number(event.currentTarget.value))}
        >
          {distinctPaths(many.map((each) => each.source)).map((path, index) => (
            <option key={index} value={index}>
              {cutMiddle(printable(path), 60)}
            </option>
          ))}
        </select>
      ) : (
        <h1 class="source" title={printable(of.source)}>
          {printable(baseName(of.source))}
        </h1>
      )}
      {summary.device !== "" ? <span class="device">{cutMiddle(printable(summary.device), 40)}</span> : null}
      <span class="quiet when">{moment(summary.start_time_ns)}</span>
      <Losses of={of} />
      <LiveMark />
    </>
  )
}

/** Whether anything was lost; the one place in the header where red may appear. */
function Losses({ of }: { of: Profile }): VNode | null {
  const { summary } = of.parts
  const lost = Object.values(summary.lost).reduce((sum, each) => sum + each, 0)
  if (lost > 0) {
    const listed = Object.entries(summary.lost).map(([kind, each]) => `${grouped(each)} ${printable(kind)}`)
    return (
      <span class="problem" title={listed.join("\n")}>
        ✗ {grouped(lost)} lost
      </span>
    )
  }
  if (!summary.says_losses) return null
  return <span class="good">✓ nothing lost</span>
}

function Tools({ of }: { of: Profile }): VNode {
  return (
    <>
      <label class="search">
        <input
          id={SEARCH_ID}
          type="search"
          placeholder="search  /"
          aria-label="search names"
          spellcheck={false}
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <Hits of={of} />
      </label>
      {of.metrics.length > 0 ? (
        <select aria-label="metric" value={metric.value} onChange={(event) => (metricChoice.value = event.currentTarget.value)}>
          <Metrics names={of.metrics.filter((name) => !isOfSamples(name))} />
          {of.metrics.some(isOfSamples) ? (
            <optgroup label="samples">
              <Metrics names={of.metrics.filter(isOfSamples)} />
            </optgroup>
          ) : null}
        </select>
      ) : null}
      <button title="light or dark" aria-label="light or dark" onClick={() => (theme.value = isDark.value ? "light" : "dark")}>
        {isDark.value ? "☀" : "☾"}
      </button>
      <button title="keys (?)" aria-label="keys" onClick={() => (isHelpOpen.value = !isHelpOpen.value)}>
        ?
      </button>
    </>
  )
}

/** How much of what is shown fits the search. */
function Hits({ of }: { of: Profile }): VNode | null {
  const [hits, current] = [matches.value, page.value]
  if (hits === null || current === null) return null
  if (isBadSearch.value) return <span class="hits none" role="status">bad expression</span>
  const shown = VIEWS.find((each) => each.id === view.value)
  const own = shown?.isPresent(current, of) === true ? shown.hits?.(current, of) : null
  const [found, word] = own ?? [hits.reduce((sum, hit) => sum + hit, 0), "contexts"]
  const one = found === 1 ? word.replace(/s$/, "") : word
  return <span class={found === 0 ? "hits none" : "hits"} role="status">{grouped(found)} {one}</span>
}

function Metrics({ names }: { names: readonly string[] }): VNode {
  return (
    <>
      {names.map((name) => (
        <option key={name} value={name}>
          {cutMiddle(printable(plainName(name)), 40)}
        </option>
      ))}
    </>
  )
}

const SHOWN: Record<LiveState, readonly [string, string] | null> = {
  off: null,
  live: ["live", "the page updates when the files change"],
  paused: ["paused", "the page updates when you look at it"],
  lost: ["connection lost", "the page cannot reach proton serve; it keeps trying"],
}

function LiveMark(): VNode | null {
  const shown = SHOWN[liveState.value]
  if (shown === null) return null
  const [word, meaning] = shown
  return (
    <span class={`live ${liveState.value === "lost" ? "problem" : "good"}`} role="status" title={meaning}>
      ● {word}
    </span>
  )
}

export const isHelpOpen = signal(false)

const KEYS: readonly (readonly [string, string])[] = [
  ["1 – 9 r", "go to a view, as its tab says; ← → between tabs"],
  ["/", "search names; /x/ is an expression"],
  ["Enter", "in the search: select the heaviest hit, then the next"],
  ["↑ ↓", "select the one above or below"],
  ["Esc", "close, clear the search, clear the selection"],
  ["d", "light or dark"],
  ["?", "this list"],
]

export function Help(): VNode | null {
  if (!isHelpOpen.value) return null
  const own = VIEWS.find((each) => each.id === view.value)?.keys ?? []
  const taken = new Set(own.flatMap(([keys]) => keys.split(" "))) // the view is asked first
  return (
    <div class="help" role="dialog" aria-label="keys" onClick={() => (isHelpOpen.value = false)}>
      <dl>
        {[...KEYS.filter(([key]) => !taken.has(key)), ...own].map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">The address holds the view, selection, search and zoom: copy it to share what you see.</p>
    </div>
  )
}
