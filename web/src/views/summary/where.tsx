/** The bars of the first screen: where the metric goes. */
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { hueOfKind, strongOf } from "../../draw/colors"
import { type Folds, Groups } from "../../layout/groups"
import type { Piece } from "../../layout/labels"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import { folds, isDark, metric, selectGroup, selectRow, selectedRow, selection, view } from "../../state"
import { type Scale, count, grouped, inScale, metricQuantity, metricScale, percent, plainName, text } from "../../units"
import { useSize } from "../widgets/canvas_hooks"
import { Num, shortName } from "../widgets/facts"
import { Label, useLabels } from "../widgets/label"
import { StepChart } from "../widgets/steps"

const MOST_BARS = 8
/** Pixels of a bar's label: a share of the room, within bounds. */
const [LABEL_LEAST, LABEL_MOST, LABEL_SHARE] = [110, 380, 0.3]

/** A bar of one context, or of several that are shown as one. */
interface Bar {
  row: number
  group: { folds: Folds; box: number } | null
  label: string
  value: number
  length: number
  /** Of all; null where shares mean nothing. */
  share: number | null
}

/** Where the metric goes: the first contexts that split it; one that does not add up, by its largest. */
export function Where({ of }: { of: Profile }): VNode | null {
  const name = metric.value
  const isSum = of.metricKind(name) === "inclusive"
  const bars = isSum ? splitOf(of, name) : largestOf(of, name)
  const shown = bars.slice(0, MOST_BARS)
  const rest = bars.slice(MOST_BARS)
  const box = useRef<HTMLElement>(null)
  const { width } = useSize(box, { width: 800, height: 0 })
  const room = Math.min(LABEL_MOST, Math.max(LABEL_LEAST, LABEL_SHARE * width))
  const labels = useLabels(shown.map((bar) => bar.label), room - 8, 13)
  if (bars.length === 0) return null
  const scale = metricScale(name, shown.map((bar) => bar.value))
  const restShare = rest.reduce((sum, bar) => sum + (bar.share ?? 0), 0)
  return (
    <section class="where" ref={box} style={{ "--label": `${room}px` }} aria-label={`${isSum ? "where the" : "largest"} ${plainName(name)}${isSum ? " goes" : ""}`}>
      <h3>{isSum ? `where the ${plainName(name)} goes` : `largest ${plainName(name)}`}</h3>
      {isSum && folds.value !== null && of.parts.steps === null ? <Loop of={of} folds={folds.value} name={name} /> : null}
      {shown.map((bar, at) => (
        <Line key={bar.row} of={of} bar={bar} label={labels[at]} scale={scale} />
      ))}
      {rest.length === 0 ? null : (
        <button class="link more" onClick={() => (view.value = "flame")}>
          {text(count(rest.length))} more{restShare > 0 ? `: ${text(percent(restShare))}` : ""}
        </button>
      )}
    </section>
  )
}

/** The contexts with the largest values, where values do not add up. */
function largestOf(of: Profile, name: string): Bar[] {
  const own = of.own(name)
  const rows = [...own.keys()].filter((row) => row > 0 && (own[row] as number) > 0)
  rows.sort((a, b) => (own[b] as number) - (own[a] as number))
  const most = own[rows[0] ?? 0] as number
  return rows.map((row) => ({ row, group: null, label: pathOf(of, row), value: own[row] as number, length: (own[row] as number) / most, share: null }))
}

/** The first contexts that split the metric, siblings that only a number tells apart as one. */
function splitOf(of: Profile, name: string): Bar[] {
  const whole = of.value(name, 0)
  if (!(whole > 0)) return []
  const known = folds.value
  const shape = known ?? new Groups(of, of.parents.map((_, row) => row))
  const totals = shape.sums(of.totals(name))
  const below = (box: number): number[] => childrenOf(shape, box).filter((child) => (totals[child] as number) > 0)
  let boxes = below(0)
  for (let next = boxes; next.length > 0; next = boxes.length === 1 ? below(boxes[0] as number) : []) boxes = next
  boxes.sort((a, b) => (totals[b] as number) - (totals[a] as number))
  return boxes.map((box) => {
    const [value, row] = [totals[box] as number, shape.rows(box)[0] as number]
    const group = known === null ? null : { folds: known, box }
    return { row, group, label: labelOf(of, row, group), value, length: value / whole, share: value / whole }
  })
}

function childrenOf(shape: Groups, box: number): number[] {
  const found: number[] = []
  for (let at = box + 1; at < (shape.ends[box] as number); at = shape.ends[at] as number) found.push(at)
  return found
}

const LEAST_TURNS = 8
const LEAST_SHARE = 0.5

/** The steps of the loop that most of the time goes into, one by one, where the program marked none; nothing where there is no loop. */
function Loop({ of, folds: known, name }: { of: Profile; folds: Folds; name: string }): VNode | null {
  const totals = known.sums(of.totals(name))
  const turns = known.titled.filter((group) => known.rows(group).length >= LEAST_TURNS && (totals[group] as number) >= LEAST_SHARE * (totals[0] as number))
  const outermost = turns.sort((a, b) => (known.depths[a] as number) - (known.depths[b] as number) || (totals[b] as number) - (totals[a] as number))[0]
  if (outermost === undefined) return null
  return <StepChart of={of} rows={known.rows(outermost)} values={of.totals(name)} title={known.title(outermost) ?? ""} isAlone />
}

function pathOf(of: Profile, row: number): string {
  return of.path(row).slice(-4).map((each) => shortName(of, each)).join(" › ")
}

function labelOf(of: Profile, row: number, group: Bar["group"]): string {
  const title = group?.folds.title(group.box) ?? null
  return group === null || title === null ? shortName(of, row) : `${printable(title)} × ${grouped(group.folds.rows(group.box).length)}`
}

function Line({ of, bar, label, scale }: { of: Profile; bar: Bar; label: Piece[] | undefined; scale: Scale | null }): VNode {
  const { row, group, share, value } = bar
  const isPressed = group !== null && selection.value?.kind === "group" ? selection.value.group === group.box : selectedRow.value === row
  return (
    <button class="bar" aria-pressed={isPressed} onClick={() => (group === null ? selectRow(row) : selectGroup(group.folds, group.box))} title={cutMiddle(of.wholeName(row), 4000)}>
      <span class="label">
        <Label of={label} />
      </span>
      <span class="track">
        <span class="filled" style={{ width: `${Math.max(100 * bar.length, 0.3)}%`, background: strongOf(hueOfKind(of.kind(row)), isDark.value) }} />
      </span>
      {share === null ? <span /> : <Num of={percent(share)} />}
      <Num of={scale === null ? metricQuantity(metric.value, value) : inScale(value, scale)} />
    </button>
  )
}
