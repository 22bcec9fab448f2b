/** Above the flame graph: which way up, in which order, zoomed to what, what fits the search, what colours mean. */
import type { VNode } from "preact"
import { type Hue, hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle } from "../../names"
import type { FrameKind } from "../../schema"
import { isDark, metric } from "../../state"
import { metricQuantity, percent, text } from "../../units"
import { Choice, shortName } from "../widgets/facts"
import { type Flames, change, focus, matched, state, zoomTo, zoomed, zoomedRange } from "./flame_state"

export function FlameTools({ of }: { of: Flames }): VNode {
  const { isCallers, order } = state.value
  const part = matched.value
  const name = metric.value
  return (
    <div class="toolbar">
      <Choice
        label="which way up"
        options={[
          { id: "down", title: "From the root", hint: "scopes on top, kernels below (c)" },
          { id: "callers", title: "Callers", hint: "kernels on top, below each what called it (c)" },
        ]}
        value={isCallers ? "callers" : "down"}
        onPick={(id) => turn(id === "callers")}
      />
      {isCallers ? null : (
        <Choice
          label="order of siblings"
          options={[
            { id: "widest", title: "Widest first" },
            { id: "recorded", title: "As recorded" },
          ]}
          value={order}
          onPick={(id) => change({ order: id === "recorded" ? "recorded" : "widest", range: null })}
        />
      )}
      <Trail of={of} />
      <span class="gap" />
      {part === null ? null : (
        <span class="matched" title="what fits the search, each part counted once">
          matched {text(percent(part / (of.widths[0] as number)))} · {text(metricQuantity(name, part))}
        </span>
      )}
      <Legend of={of.of} />
      {of.tree.isCut ? <span class="quiet">the deepest callers are left out</span> : null}
    </div>
  )
}

const HUES: readonly [Hue, string][] = [
  ["scope", "scope"],
  ["python", "Python"],
  ["kernel", "kernel"],
  ["copy", "copy"],
  ["line", "source line"],
]

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
  const boxes: number[] = []
  for (let box = zoomed.value; box > 0; box = of.tree.parent(box)) boxes.push(box)
  const range = zoomedRange.value
  if (boxes.length === 0 && range === null) return null
  const shown = boxes.slice(0, 3).reverse()
  return (
    <span class="trail">
      <button class="link" onClick={() => change({ row: 0, depth: 0, range: null })}>
        everything
      </button>
      {boxes.length > 3 ? <span class="quiet"> › …</span> : null}
      {shown.map((box) => (
        <span key={box}>
          <span class="quiet"> › </span>
          <button class="link" onClick={() => zoomTo(box)}>
            {cutMiddle(shortName(of.of, of.tree.row(box)), 32)}
          </button>
        </span>
      ))}
      {range === null ? null : (
        <span class="quiet">
          {" "}
          › {range[0] + 1} to {range[1]} of {of.tree.children(zoomed.value).length}
        </span>
      )}
    </span>
  )
}

export function turn(isCallers: boolean): void {
  focus.value = null
  change({ isCallers, row: 0, depth: 0, range: null })
}
