/** Above the flame graph: which way up, in which order, zoomed to what, what fits the search, what colours mean. */
import type { VNode } from "preact"
import { type Hue, fillOfChange, hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { FrameKind } from "../../schema"
import { hidesLibrary, isDark, isUnfolded, metric, page } from "../../state"
import { grouped, metricQuantity, percent, text } from "../../units"
import { Choice, LibrarySwitch, shortName } from "../widgets/facts"
import { isTableShown } from "./table"
import { type Flames, WHOLE, bothOf, change, leaveSandwich, matched, selectedContext, showSandwich, state, show, titleOf, zoomTo, zoomed } from "./flame_state"

export function FlameTools({ of }: { of: Flames }): VNode {
  const { isDiff, isSandwich, order } = state.value
  const part = matched.value
  const { library } = of.of.parts
  const name = metric.value
  return (
    <div class="toolbar">
      <Choice
        label="which way up"
        options={[
          { id: "down", title: "From the root", hint: "scopes on top, kernels below (c)" },
          { id: "sandwich", title: "Sandwich", hint: "what is selected, over all its contexts: callers above, below what it called (s); nothing selected: every kernel (c)" },
        ]}
        value={isSandwich ? "sandwich" : "down"}
        onPick={(id) => (id === "down" ? leaveSandwich() : showSandwich(selectedContext(of)))}
      />
      {isSandwich ? null : (
        <Choice
          label="order of siblings"
          options={[
            { id: "widest", title: "Widest first" },
            { id: "recorded", title: "As recorded" },
          ]}
          value={order}
          onPick={(id) => change({ order: id === "recorded" ? "recorded" : "widest", window: null })}
        />
      )}
      {of.of.parts.folds === null ? null : (
        <Choice
          label="numbered siblings"
          options={[
            { id: "folded", title: "Folded", hint: "siblings that differ in a number only are one box: step_* (u)" },
            { id: "unfolded", title: "Each", hint: "step_0, step_1, ...: each has a box (u)" },
          ]}
          value={isUnfolded.value ? "unfolded" : "folded"}
          onPick={(id) => show({ isUnfolded: id === "unfolded" })}
        />
      )}
      {isSandwich || page.value === null || page.value.diff === null ? null : (
        <Choice
          label="what colours tell"
          options={[
            { id: "kind", title: "Kinds", hint: "colours tell scopes, Python and kernels apart (v)" },
            { id: "change", title: "Changes", hint: "colours tell what takes longer or less in the second profile (v)" },
          ]}
          value={isDiff ? "change" : "kind"}
          onPick={(id) => change({ isDiff: id === "change" })}
        />
      )}
      {library === null ? null : <LibrarySwitch many={`${grouped(library.frames)} frames`} onPress={() => show({ hidesLibrary: !hidesLibrary.value })} />}
      <button class="switch" title="the boxes in view as a table (t)" aria-pressed={isTableShown.value} onClick={() => (isTableShown.value = !isTableShown.value)}>
        Table
      </button>
      <Trail of={of} />
      <span class="gap" />
      {part === null ? null : (
        <span class="matched" title="what fits the search, each part counted once">
          matched {text(percent(part / (of.widths[0] as number)))} · {text(metricQuantity(name, part))}
        </span>
      )}
      {bothOf(of, 0) === null ? <Legend of={of.of} /> : <ChangeLegend />}
      {of.tree.isCut ? <span class="quiet">the deepest callers are left out</span> : null}
    </div>
  )
}

const HUES: readonly [Hue, string][] = [
  ["scope", "scope"],
  ["module", "module"],
  ["python", "Python"],
  ["operator", "operator"],
  ["backward", "backward"],
  ["kernel", "kernel"],
  ["copy", "copy"],
  ["line", "source line"],
]

/** What colours of changes mean. */
function ChangeLegend(): VNode {
  return (
    <span class="legend quiet">
      {(["gone or less", "as before", "more or new"] as const).map((title, at) => (
        <span key={title}>
          <span class="swatch" style={{ background: fillOfChange(at - 1, isDark.value).fill }} />
          {title}
        </span>
      ))}
    </span>
  )
}

/** What the colours mean, of those that are there. */
function Legend({ of }: { of: Profile }): VNode {
  const present = new Set([...new Set(of.parts.tree.kinds)].map((kind) => hueOfKind(kind as FrameKind)))
  return (
    <span class="legend quiet">
      {HUES.filter(([hue]) => present.has(hue)).map(([hue, title]) => (
        <span key={hue}>
          <span class="swatch" style={{ background: strongOf(hue, isDark.value) }} />
          {title}
        </span>
      ))}
    </span>
  )
}

/** Where the zoom stands, each part a way back. */
function Trail({ of }: { of: Flames }): VNode | null {
  const { tree, sandwich } = of
  const isOfName = sandwich !== null && sandwich.middle !== null
  const above = sandwich === null ? [] : towardsRoot(of, sandwich.narrowedAbove)
  const below = towardsRoot(of, zoomed.value).reverse()
  if (below.length + above.length === 0 && !isOfName) return null
  const part = (box: number): VNode => (
    <button class="link" onClick={() => zoomTo(box)}>
      {cutMiddle(printable(titleOf(of, box) ?? shortName(of.of, tree.row(box))), 32)}
    </button>
  )
  return (
    <span class="trail">
      <button class="link" onClick={() => (sandwich === null ? change(WHOLE) : showSandwich(0))}>
        everything
      </button>
      {above.length > MOST_PARTS ? <span class="quiet"> › …</span> : null}
      {above.slice(0, MOST_PARTS).map((box) => (
        <span key={box}>
          <span class="quiet"> › </span>
          {part(box)}
        </span>
      ))}
      {isOfName ? <span class="quiet"> › </span> : null}
      {isOfName ? <b>{part(0)}</b> : null}
      {below.length > MOST_PARTS ? <span class="quiet"> › …</span> : null}
      {below.slice(-MOST_PARTS).map((box) => (
        <span key={box}>
          <span class="quiet"> › </span>
          {part(box)}
        </span>
      ))}
    </span>
  )
}

const MOST_PARTS = 3

/** A box and those between it and the root, or the middle. */
function towardsRoot(of: Flames, box: number): number[] {
  const boxes: number[] = []
  for (let at = box; at > 0; at = of.tree.parent(at)) boxes.push(at)
  return boxes
}
