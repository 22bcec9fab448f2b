/** The bars of the first screen: where the metric goes. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle } from "../../names"
import { isDark, metric, selectRow, selectedRow } from "../../state"
import { count, metricQuantity, percent, plainName, text } from "../../units"
import { Name, Num, shortName } from "../widgets/facts"

const MOST_BARS = 8

/** Where the metric goes: the first contexts that split it; one that does not add up, by its largest. */
export function Where({ of }: { of: Profile }): VNode | null {
  const name = metric.value
  if (of.metricKind(name) === "inclusive") return <Split of={of} name={name} />
  const own = of.own(name)
  const rows = [...own.keys()].filter((row) => row > 0 && (own[row] as number) > 0)
  rows.sort((a, b) => (own[b] as number) - (own[a] as number))
  const most = own[rows[0] ?? 0] as number
  if (rows.length === 0) return null
  return (
    <section class="where" aria-label={`largest ${plainName(name)}`}>
      {rows.slice(0, MOST_BARS).map((row) => (
        <Bar key={row} of={of} row={row} length={(own[row] as number) / most} share={null} label={pathOf(of, row)} />
      ))}
      {rows.length > MOST_BARS ? <p class="quiet">{text(count(rows.length - MOST_BARS))} more</p> : null}
    </section>
  )
}

function Split({ of, name }: { of: Profile; name: string }): VNode | null {
  const whole = of.value(name, 0)
  if (!(whole > 0)) return null
  const totals = of.totals(name)
  const below = (row: number): number[] => of.children(row).filter((child) => (totals[child] as number) > 0)
  let rows = below(0)
  for (let next = rows; next.length > 0; next = rows.length === 1 ? below(rows[0] as number) : []) rows = next
  rows.sort((a, b) => (totals[b] as number) - (totals[a] as number))
  const rest = rows.slice(MOST_BARS).reduce((sum, row) => sum + (totals[row] as number), 0)
  return (
    <section class="where" aria-label={`where the ${plainName(name)} goes`}>
      {rows.slice(0, MOST_BARS).map((row) => (
        <Bar key={row} of={of} row={row} length={(totals[row] as number) / whole} share={(totals[row] as number) / whole} />
      ))}
      {rest > 0 ? <p class="quiet">{rows.length - MOST_BARS} more: {text(percent(rest / whole))}</p> : null}
    </section>
  )
}

function pathOf(of: Profile, row: number): string {
  return of.path(row).slice(-4).map((each) => shortName(of, each)).join(" › ")
}

interface BarProps {
  of: Profile
  row: number
  length: number
  share: number | null
  label?: string
}

function Bar({ of, row, length, share, label = shortName(of, row) }: BarProps): VNode {
  const color = strongOf(hueOfKind(of.kind(row)), isDark.value)
  return (
    <button class="bar" aria-pressed={selectedRow.value === row} onClick={() => selectRow(row)} title={cutMiddle(of.whole(of.rawName(row)), 4000)}>
      <span class="label">
        <Name of={label} />
      </span>
      <span class="track">
        <span class="filled" style={{ width: `${Math.max(100 * length, 0.3)}%`, background: color }} />
      </span>
      {share === null ? <span /> : <Num of={percent(share)} />}
      <Num of={metricQuantity(metric.value, of.value(metric.value, row))} />
    </button>
  )
}
