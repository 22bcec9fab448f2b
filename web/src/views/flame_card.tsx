/** What the box under the pointer is: its name, its share, how often and how long it ran. */
import type { VNode } from "preact"
import type { FlameLayout } from "../layout/flame"
import { cutMiddle } from "../names"
import { metric } from "../state"
import { count, metricQuantity, percent, plainName, text, time } from "../units"
import { Fact, pathText } from "./facts"
import type { Flames } from "./flame_state"

const WIDTH = 320
const KINDS = { r: "root", s: "scope", t: "state", p: "Python frame", k: "kernel", c: "copy", l: "source line" } as const

interface CardProps {
  of: Flames
  layout: FlameLayout
  place: number
  zoom: number
  /** The pointer, in the window. */
  x: number
  y: number
}

export function FlameCard({ of, layout, place, zoom, x, y }: CardProps): VNode {
  const left = Math.max(4, Math.min(x + 14, window.innerWidth - WIDTH - 8))
  const isLow = y > window.innerHeight * 0.6
  const spot = isLow ? { bottom: `${window.innerHeight - y + 12}px` } : { top: `${y + 16}px` }
  return (
    <div class="card" style={{ left: `${left}px`, maxWidth: `${WIDTH}px`, ...spot }}>
      {layout.hidden[place] === 0 ? <Box of={of} box={layout.boxes[place] as number} zoom={zoom} /> : <Narrow of={of} layout={layout} place={place} />}
    </div>
  )
}

function Narrow({ of, layout, place }: { of: Flames; layout: FlameLayout; place: number }): VNode {
  const share = (layout.widths[place] as number) / (layout.widths[0] as number)
  return (
    <p class="quiet">
      {layout.hidden[place]} boxes too narrow to draw, together {text(percent(share))}; zoom to “
      {cutMiddle(of.of.name(of.tree.row(layout.boxes[place] as number)), 60)}” to see them
    </p>
  )
}

function Box({ of, box, zoom }: { of: Flames; box: number; zoom: number }): VNode {
  const { of: shown, tree } = of
  const row = tree.row(box)
  const value = tree.width(box)
  const parent = tree.parent(box)
  const detail = shown.recording.details.get(row)
  const runs = shown.value("count", row)
  const isOne = !of.isCallers
  const name = plainName(metric.value)
  return (
    <>
      <strong>{box === 0 ? "everything" : cutMiddle(shown.whole(shown.rawName(row)), 240)}</strong>
      <p class="quiet">{box === 0 ? "" : `${KINDS[shown.kind(row)]} · ${of.isCallers ? callers(of, box) : pathText(shown, row, 90)}`}</p>
      <dl>
        <Fact name={cutMiddle(name, 40)} of={metricQuantity(metric.value, value)} share={value / tree.width(0)} />
        {zoom === 0 || zoom === box ? null : <Fact name="of what is zoomed to" of={percent(value / tree.width(zoom))} />}
        {parent <= 0 ? null : <Fact name={of.isCallers ? "of what it called" : "of its parent"} of={percent(value / tree.width(parent))} />}
        {isOne && !Number.isNaN(runs) ? <Fact name="runs" of={count(runs)} /> : null}
        {isOne && detail !== undefined ? <Fact name="p50" of={time(detail.p50)} /> : null}
        {isOne && detail !== undefined ? <Fact name="p99" of={time(detail.p99)} /> : null}
      </dl>
    </>
  )
}

/** What a box of the callers' view called, down to the kernel. */
function callers(of: Flames, box: number): string {
  const names: string[] = []
  for (let at = of.tree.parent(box); at > 0 && names.length < 12; at = of.tree.parent(at)) {
    names.push(of.of.name(of.tree.row(at)))
  }
  return names.length === 0 ? "on top: what called it is below" : cutMiddle(`called ${names.join(" › ")}`, 90)
}
