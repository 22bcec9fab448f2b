/** A bar for each of several steps; and what contexts that are shown as one have in common: their spread, and such bars. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks, prepared } from "../../draw/canvas"
import { hueOfKind, strongOf } from "../../draw/colors"
import { drawSteps } from "../../draw/steps"
import { type Folds, spreadOf } from "../../layout/groups"
import { type Steps, slowSteps, stepAt, stepsOf } from "../../layout/steps"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import { groupsOf, isDark, metric, selectRow, selectedRow } from "../../state"
import { count, grouped, metricQuantity, percent, plainName, text, unitOf } from "../../units"
import { useSize } from "./canvas_hooks"
import { SHARE, numberColumn } from "./columns"
import { Fact, shortName } from "./facts"
import { hover, leave } from "./hover"
import { Twin } from "./twin"
import "./steps.css"

const HEIGHT = 72
const MOST_SLOW = 5

interface Several {
  of: Profile
  rows: ArrayLike<number>
  /** Of all rows of the profile. */
  values: Float64Array
}

/** The names above a group, from the root down. */
export function groupPath(of: Profile, folds: Folds, group: number, room: number): string {
  const names: string[] = []
  for (let at = folds.parents[group] as number; at > 0; at = folds.parents[at] as number) {
    names.push(printable(folds.title(at) ?? shortName(of, folds.rows(at)[0] as number)))
  }
  return cutMiddle(names.reverse().join(" › ") || "at the top", room)
}

/** What tells the contexts of a group apart: their own name, or that of a numbered one above them. */
function turnName(of: Profile, folds: Folds | null, row: number): string {
  const own = shortName(of, row)
  for (let at = row; folds !== null && at > 0; at = of.parents[at] as number) {
    if (folds.title(folds.of[at] as number) !== null) return at === row ? own : `${shortName(of, at)} › ${own}`
  }
  return own
}

/** How one of several contexts compares with the others. */
export function SpreadFacts({ rows, values }: Several): VNode | null {
  const spread = spreadOf(Array.from(rows, (row) => values[row] as number))
  if (spread === null) return null
  const of = (value: number): ReturnType<typeof count> => metricQuantity(metric.value, value)
  return (
    <>
      <Fact name="contexts" of={count(spread.count)} />
      <Fact name="least" of={of(spread.min)} />
      <Fact name="median" of={of(spread.median)} />
      <Fact name="p90" of={of(spread.p90)} />
      <Fact name="largest" of={of(spread.max)} />
    </>
  )
}

interface StepBarsProps {
  steps: Steps
  /** Of each step, a mark across its bar. */
  marks?: ArrayLike<number> | null
  fill: string
  label: string
  chosen: number
  cardOf(at: number): VNode
  onPick(at: number): void
}

/** The bars of steps; a click picks one. */
export function StepBars({ steps, marks = null, fill, label, chosen, cardOf, onPick }: StepBarsProps): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(place)
  const [pointed, setPointed] = useState(-1)
  const dark = isDark.value
  useLayoutEffect(() => {
    const context = canvas.current === null ? null : prepared(canvas.current, width, HEIGHT)
    if (context === null || !(width > 0)) return
    const slow = getComputedStyle(document.documentElement).getPropertyValue("--problem").trim()
    drawSteps(context, { steps, marks, width, height: HEIGHT, fill, slow, mark: strongOf("kernel", dark), inks: inks(), chosen, pointed })
  })
  useLayoutEffect(() => leave, [])
  const find = (event: MouseEvent): number => stepAt(steps, width, event.offsetX)
  return (
    <div class="steps-place" ref={place}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onMouseMove={(event) => {
          const at = find(event)
          setPointed(at)
          hover(event, at < 0 ? null : cardOf(at))
        }}
        onMouseLeave={() => {
          setPointed(-1)
          leave()
        }}
        onClick={(event) => {
          const at = find(event)
          if (at >= 0) onPick(at)
        }}
      />
    </div>
  )
}

/** The steps that take far longer than others, by name. */
export function SlowSteps({ steps, name, value, onPick }: { steps: Steps; name(at: number): string; value(at: number): string; onPick(at: number): void }): VNode | null {
  const slow = slowSteps(steps)
  if (slow.length === 0) return null
  return (
    <p title="further above the upper quartile than three times the distance of the quartiles, and 5 % above the median">
      {slow.length === 1 ? "one is slow: " : `${grouped(slow.length)} are slow: `}
      {slow.slice(0, MOST_SLOW).map((at, place) => (
        <span key={at}>
          {place > 0 ? ", " : ""}
          <button class="link" onClick={() => onPick(at)}>
            {name(at)}
          </button>{" "}
          <span class="quiet">{value(at)}</span>
        </span>
      ))}
      {slow.length > MOST_SLOW ? <span class="quiet"> and {grouped(slow.length - MOST_SLOW)} more</span> : null}
    </p>
  )
}

/** A bar for each of several contexts, in the order in which they were recorded; a click selects one.
 *
 * `isAlone`: nothing beside it tells their spread.
 */
export function StepChart({ of, rows, values, title, isAlone }: Several & { title: string; isAlone: boolean }): VNode | null {
  const steps = useMemo(() => stepsOf(Array.from(rows, (row) => values[row] as number)), [rows, values])
  const chosen = selectedRow.value === null ? -1 : Array.from(rows).indexOf(selectedRow.value)
  if (steps === null) return null
  const value = (at: number): string => text(metricQuantity(metric.value, steps.values[at] as number))
  const known = groupsOf(of)
  const name = (at: number): string => cutMiddle(turnName(of, known, rows[at] as number), 40)
  const pick = (at: number): void => selectRow(rows[at] as number)
  return (
    <div class="steps">
      {isAlone ? (
        <p>
          <b>
            {cutMiddle(printable(title), 60)} × {grouped(steps.spread.count)}
          </b>
          , {cutMiddle(printable(plainName(metric.value)), 40)} of each: median {text(metricQuantity(metric.value, steps.spread.median))}, p90{" "}
          {text(metricQuantity(metric.value, steps.spread.p90))}, largest {text(metricQuantity(metric.value, steps.spread.max))}
        </p>
      ) : null}
      <StepBars
        steps={steps}
        fill={strongOf(hueOfKind(of.kind(rows[0] as number)), isDark.value)}
        label={`${printable(title)} one by one`}
        chosen={chosen}
        cardOf={(at) => <StepCard name={name(at)} value={value(at)} ratio={(steps.values[at] as number) / steps.spread.median} />}
        onPick={pick}
      />
      <p class="steps-ends quiet">
        <span>{name(0)}</span>
        <span>{name(rows.length - 1)}</span>
      </p>
      <Twin
        label="all of them"
        rows={() => [...Array.from(rows).keys()]}
        columns={(list) => [
          { id: "name", title: "name", isText: true, name: (at: number) => turnName(of, known, rows[at] as number), key: (at: number) => at },
          { id: "value", title: printable(plainName(metric.value)), width: 96, key: (at: number) => steps.values[at] ?? null, cell: value, words: value, raw: (at: number) => steps.values[at] ?? null, rawUnit: unitOf(metric.value) },
          numberColumn(list, { id: "ratio", title: "of median", width: 88, as: SHARE, of: (at) => (steps.values[at] as number) / steps.spread.median }),
        ]}
        idOf={String}
        isSelected={(at) => at === chosen}
        onSelect={pick}
        sort="name"
      />
      <SlowSteps steps={steps} name={name} value={value} onPick={pick} />
    </div>
  )
}

function StepCard({ name, value, ratio }: { name: string; value: string; ratio: number }): VNode {
  return (
    <>
      <strong>{name}</strong>
      <p class="quiet">
        {value}
        {Number.isFinite(ratio) && ratio > 0 ? `, ${text(percent(ratio))} of the median` : ""}
      </p>
    </>
  )
}
