/** What the box under the pointer is: its name, its share, how often and how long it ran. */
import type { VNode } from "preact"
import { type FlameLayout, shownWidth } from "../../layout/flame/boxes"
import { cutMiddle } from "../../names"
import { metric } from "../../state"
import { count, grouped, metricQuantity, percent, plainName, time } from "../../units"
import { Fact, pathText } from "../widgets/facts"
import type { Flames } from "./flame_state"

const KINDS = { r: "root", s: "scope", t: "state", p: "Python frame", k: "kernel", c: "copy", l: "source line" } as const

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
  const [from, many] = [layout.froms[place] as number, layout.hidden[place] as number]
  const part = shownWidth(of.tree, layout.boxes[place] as number, [from, from + many])
  return (
    <>
      <strong>{many === 1 ? "one box too narrow to draw" : `${grouped(many)} boxes too narrow to draw`}</strong>
      <dl>
        <Fact name={many === 1 ? "it has" : "together"} of={metricQuantity(metric.value, part)} share={part / of.tree.width(0)} />
      </dl>
      <p class="quiet">double-click to show {many === 1 ? "it" : "them"}</p>
    </>
  )
}

function Box({ of, box, zoom, seen }: { of: Flames; box: number; zoom: number; seen: number }): VNode {
  const { of: shown, tree } = of
  const row = tree.row(box)
  const value = tree.width(box)
  const parent = tree.parent(box)
  const isOne = !of.isCallers
  const [times, runs] = [isOne ? shown.runs(row) : null, shown.value("count", row)]
  const name = plainName(metric.value)
  return (
    <>
      <strong>{box === 0 ? "everything" : cutMiddle(shown.whole(shown.rawName(row)), 240)}</strong>
      <p class="quiet">{box === 0 ? "" : `${KINDS[shown.kind(row)]} · ${of.isCallers ? callers(of, box) : pathText(shown, row, 90)}`}</p>
      <dl>
        <Fact name={cutMiddle(name, 40)} of={metricQuantity(metric.value, value)} share={value / tree.width(0)} />
        {seen === tree.width(0) || zoom === box || value > seen ? null : <Fact name="of what is zoomed to" of={percent(value / seen)} />}
        {parent <= 0 ? null : <Fact name={of.isCallers ? "of what it called" : "of its parent"} of={percent(value / tree.width(parent))} />}
        {isOne && !Number.isNaN(runs) ? <Fact name="runs" of={count(runs)} /> : null}
        {times !== null ? <Fact name="p50" of={time(times.p50)} /> : null}
        {times !== null ? <Fact name="p99" of={time(times.p99)} /> : null}
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
