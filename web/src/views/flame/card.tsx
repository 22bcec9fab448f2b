/** What the box under the pointer is: its name, its share, how often and how long it ran. */
import type { VNode } from "preact"
import { type FlameLayout, boxesAt } from "../../layout/flame/boxes"
import { cutMiddle, printable } from "../../names"
import { metric } from "../../state"
import { count, grouped, metricQuantity, percent, plainName, text, time } from "../../units"
import { Fact, Row, pathText } from "../widgets/facts"
import { SpreadFacts, groupPath } from "../widgets/steps"
import { type Both, type Flames, bothOf, isEverything, titleOf, wayNames } from "./flame_state"

const KINDS = {
  r: "root",
  s: "scope",
  t: "state",
  p: "Python frame",
  k: "kernel",
  c: "copy",
  l: "source line",
  m: "module",
  o: "operator",
  b: "backward",
} as const

interface CardProps {
  of: Flames
  layout: FlameLayout
  place: number
  zoom: number
  /** What the whole width stands for. */
  seen: number
}

export function FlameCard({ of, layout, place, zoom, seen }: CardProps): VNode {
  if (layout.hidden[place] !== 0) return <Narrow of={of} layout={layout} place={place} />
  return <Box of={of} box={layout.boxes[place] as number} zoom={zoom} seen={seen} />
}

function Narrow({ of, layout, place }: { of: Flames; layout: FlameLayout; place: number }): VNode {
  const many = layout.hidden[place] as number
  const part = boxesAt(layout, of.tree, place).reduce((sum, box) => sum + of.tree.width(box), 0)
  return (
    <>
      <strong>{many === 1 ? "one box too narrow to draw" : `${grouped(many)} boxes too narrow to draw`}</strong>
      <dl>
        <Fact name={many === 1 ? "it has" : "together"} of={metricQuantity(metric.value, part)} share={part / (of.widths[0] as number)} />
      </dl>
      <p class="quiet">double-click to show {many === 1 ? "it" : "them"}</p>
    </>
  )
}

function Box({ of, box, zoom, seen }: { of: Flames; box: number; zoom: number; seen: number }): VNode {
  const { of: shown, tree, sandwich } = of
  const row = tree.row(box)
  const [value, whole] = [tree.width(box), of.widths[0] as number]
  const parent = tree.parent(box)
  const title = titleOf(of, box)
  const rows = tree.rows(box)
  const isAll = isEverything(of, box)
  const isOne = sandwich === null && rows.length === 1
  const [times, runs] = [isOne ? shown.runs(row) : null, shown.value("count", row)]
  const name = plainName(metric.value)
  const both = bothOf(of, box)
  return (
    <>
      <strong>{isAll ? "everything" : cutMiddle(title === null ? shown.wholeName(row) : printable(title), 240)}</strong>
      <p class="quiet">{isAll ? "" : `${kindText(of, box)} · ${sandwich === null ? pathOf(of, box) : wayOf(of, box)}`}</p>
      <dl>
        <Fact name={cutMiddle(name, 40)} of={metricQuantity(metric.value, value)} share={value / whole} />
        {both === null ? null : (
          <>
            <Fact name="before" of={metricQuantity(metric.value, both.before)} />
            <Fact name="after" of={metricQuantity(metric.value, both.after)} />
            <Row name="change">{changeText(both)}</Row>
          </>
        )}
        {seen === whole || zoom === box || value > seen ? null : <Fact name={sandwich === null ? "of what is zoomed to" : "of what is shown"} of={percent(value / seen)} />}
        {parent <= 0 ? null : <Fact name={tree.depth(box) < 0 ? "of what it called" : "of its parent"} of={percent(value / tree.width(parent))} />}
        {rows.length > 1 && sandwich === null ? <SpreadFacts of={of.of} rows={rows} values={of.widths} /> : null}
        {isOne && !Number.isNaN(runs) ? <Fact name="runs" of={count(runs)} /> : null}
        {times !== null ? <Fact name="p50" of={time(times.p50)} /> : null}
        {times !== null ? <Fact name="p99" of={time(times.p99)} /> : null}
      </dl>
    </>
  )
}

/** `new`, `gone`, or by how much it changed, in percent of what it was; null where there is nothing to compare. */
export function changeText(both: Both | null): string | null {
  if (both === null) return null
  const { before, after } = both
  if (!(before > 0)) return after > 0 ? "new" : ""
  if (!(after > 0)) return "gone"
  const change = text(percent(after / before - 1))
  return after > before && !change.startsWith("<") ? `+${change}` : change
}

function kindText({ of, tree }: Flames, box: number): string {
  const many = tree.rows(box).length
  const kind = KINDS[of.kind(tree.row(box))]
  return many === 1 ? kind : kind === "copy" ? `copies in ${grouped(many)} contexts` : `${grouped(many)} × ${kind}`
}

/** The names above a box of the view from the root. */
function pathOf(of: Flames, box: number): string {
  if (of.folds === null) return pathText(of.of, of.tree.row(box), 90)
  return groupPath(of.of, of.folds, box, 90)
}

/** How a box of a sandwich and the name in the middle are tied. */
function wayOf(of: Flames, box: number): string {
  const way = wayNames(of, box)
  if (way.length === 0) return of.tree.depth(box) === 0 ? "its callers above, what it called below" : "its callers above"
  return cutMiddle(`${of.tree.depth(box) < 0 ? "called" : "below"} ${way.join(" › ")}`, 90)
}
