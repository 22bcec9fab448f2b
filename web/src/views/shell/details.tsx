/** The pane on the right: all there is to say of the selection, in every view the same. */
import { Fragment, type VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { NUM_SAMPLES, type Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import { metric, page, profile, selectRow, selectedKernel, selectedRow, selection, view } from "../../state"
import { type Quantity, amount, count, inScale, metricQuantity, metricScale, memory, percent, plainName, text, time } from "../../units"
import { Fact, Num, Quantile, Row, STALLED, Words, isOfSamples, pathAbove, pathText, shortName } from "../widgets/facts"
import { RunHistogram } from "../widgets/histogram"
import { Instrumented } from "../widgets/label"
import { VIEWS } from "./registry"

const MOST_CONTEXTS = 12
const MOST_UNFOLDED = 500
const MOST_REASONS = 5
const PATH_HEAD = 4
const PATH_TAIL = 12

/** There is none until something is selected: its room is the view's. */
export function Details(): VNode | null {
  const shown = profile.value
  return shown === null || selection.value === null ? null : <Pane of={shown} />
}

/** Views in which a double click means something: what is under the pointer must not move before it. */
const CALM: readonly string[] = ["flame", "timeline"]
const DOUBLE_MS = 300

function Pane({ of }: { of: Profile }): VNode {
  const row = selectedRow.value
  const kernel = selectedKernel.value
  const current = page.value
  const [isArriving, setArriving] = useState(CALM.includes(view.value))
  useEffect(() => {
    const timer = setTimeout(() => setArriving(false), DOUBLE_MS)
    return () => clearTimeout(timer)
  }, [])
  const isSpan = selection.value?.kind === "span" // what happened once comes before sums over all times
  const more = VIEWS.map((each) => {
    const More = each.Details
    return More === undefined || current === null || !each.isPresent(current, of) ? null : <More key={each.id} />
  })
  return (
    <aside class={isArriving ? "details arriving" : "details"} aria-label="selection">
      <button class="close" title="clear the selection (Esc)" aria-label="clear the selection" onClick={() => (selection.value = null)}>
        ×
      </button>
      {isSpan ? more : null}
      {row !== null ? <Context of={of} row={row} isBelow={isSpan} /> : null}
      {kernel !== null ? <Kernel of={of} name={kernel} alone={row === null} /> : null}
      {isSpan ? null : more}
    </aside>
  )
}

/** `isBelow`: one span of it stands above. */
function Context({ of, row, isBelow }: { of: Profile; row: number; isBelow: boolean }): VNode {
  const whole = of.value(metric.value, 0)
  return (
    <section>
      {isBelow ? <h3>its context, all spans together</h3> : <h2 title={of.wholeName(row)}>{row === 0 ? "everything" : of.name(row)}</h2>}
      {of.isWork(row) ? <Instrumented of={of} name={of.rawName(row)} isWhole /> : null}
      <Path of={of} rows={pathAbove(of, row)} />
      <dl>
        {of.metrics.map((name) => {
          const value = of.value(name, row)
          if (Number.isNaN(value) || isOfSamples(name)) return null
          const share = name === metric.value && whole > 0 ? value / whole : null
          return <Fact key={name} name={printable(plainName(name))} of={metricQuantity(name, value)} share={share} />
        })}
      </dl>
      <Launch of={of} row={row} />
      <Samples of={of} row={row} />
    </section>
  )
}

/** The contexts above, each a button; of a very deep path the ends. */
function Path({ of, rows }: { of: Profile; rows: readonly number[] }): VNode | null {
  if (rows.length === 0) return null
  const isCut = rows.length > PATH_HEAD + PATH_TAIL
  const shown = isCut ? [...rows.slice(0, PATH_HEAD), ...rows.slice(-PATH_TAIL)] : rows
  return (
    <p class="path">
      {shown.map((above, at) => (
        <Fragment key={above}>
          {isCut && at === PATH_HEAD ? <span> › … {text(count(rows.length - shown.length))} more …</span> : null}
          {at > 0 ? " › " : ""}
          <button class="link" onClick={() => selectRow(above)} title={cutMiddle(of.name(above), 4000)}>
            {shortName(of, above)}
          </button>
        </Fragment>
      ))}
    </p>
  )
}

/** Where the instruction pointer was found: how often, and what warps mostly waited for. */
function Samples({ of, row }: { of: Profile; row: number }): VNode | null {
  const all = of.value(NUM_SAMPLES, row)
  if (!(all > 0)) return null
  const reasons = of.metrics
    .filter((name) => name.startsWith(STALLED) && name !== `${STALLED}selected`)
    .map((name): [string, number] => [name, of.value(name, row)])
    .filter(([, samples]) => samples > 0)
    .sort(([, a], [, b]) => b - a)
  return (
    <>
      <h3>{text(count(all))} samples, warps mostly waited for</h3>
      <dl>
        {reasons.slice(0, MOST_REASONS).map(([name, samples]) => (
          <Fact key={name} name={printable(name.slice(STALLED.length).replaceAll("_", " "))} of={percent(samples / all)} />
        ))}
      </dl>
    </>
  )
}

/** How the kernel of one context was launched, and how its runs spread. */
function Launch({ of, row }: { of: Profile; row: number }): VNode | null {
  const runs = of.runs(row)
  if (runs === null) return null
  const { launch } = runs
  return (
    <dl>
      <Fact name="shortest" of={time(runs.min)} />
      <Fact name="p50" of={time(runs.p50)} />
      <Fact name="p99" of={time(runs.p99)} />
      <Fact name="longest" of={time(runs.max)} />
      <Words name="grid" of={times(launch.grid)} />
      <Words name="block" of={times(launch.block)} />
      <Known name="registers" value={launch.regs} as={count} />
      <Known name="shared memory" value={launch.shared} as={memory} />
      <Known name="occupancy" value={launch.occupancy} as={percent} />
    </dl>
  )
}

/** The kernel of the selection over all of its contexts. */
function Kernel({ of, name, alone }: { of: Profile; name: string; alone: boolean }): VNode | null {
  const rows = of.rowsOfKernel(name)
  const table = of.parts.kernels
  const at = table?.name.indexOf(name) ?? -1
  if (table === null || at < 0) return null
  const remark = table.peak_remark[at] ?? null
  const isKnown = [table.flop_per_s[at], table.byte_per_s[at]].some((rate) => (rate ?? null) !== null)
  return (
    <section>
      {alone ? <h2 title={of.whole(name)}>{of.shown(name)}</h2> : null}
      {alone ? <Instrumented of={of} name={name} isWhole /> : null}
      {alone || rows.length <= 1 ? null : <h3>this kernel, everywhere</h3>}
      <dl>
        {rows.length <= 1 ? null : (
          <>
            <Fact name="time" of={time(table.time_ns[at])} share={table.share[at] ?? null} />
            <Fact name="runs" of={count(table.count[at])} />
          </>
        )}
        <Fact name="average" of={time(table.avg_ns[at])} />
        {alone ? (
          <>
            <Fact name="shortest" of={time(table.min_ns[at])} />
            <Row name="p50"><Quantile of={table.p50_ns[at]} /></Row>
            <Row name="p99"><Quantile of={table.p99_ns[at]} /></Row>
            <Fact name="longest" of={time(table.max_ns[at])} />
            <Words name="grid" of={times(table.grid[at])} />
            <Words name="block" of={times(table.block[at])} />
            <Known name="registers" value={table.regs[at]} as={count} />
            <Known name="shared memory" value={table.shared[at]} as={memory} />
            <Known name="occupancy" value={table.occupancy[at]} as={percent} />
          </>
        ) : null}
        {isKnown ? (
          <>
            <Fact name="arithmetic" of={amount(table.flop_per_s[at], "FLOP/s")} />
            <Fact name="memory" of={amount(table.byte_per_s[at], "B/s")} />
            <Fact name="of peak" of={percent(table.share_of_peak[at])} least={remark ?? undefined} />
            <Words name="bound by" of={table.bound[at] ?? null} />
            <Fact name="could be saved" of={time(table.headroom_ns[at])} />
          </>
        ) : null}
      </dl>
      <RunHistogram of={of} rows={selectedRow.value === null ? rows : [selectedRow.value]} />
      {isKnown || table.kind[at] !== "k" ? null : <p class="quiet">Its operations and bytes are not known.</p>}
      {remark === null ? null : <p class="quiet">of peak: {(table.share_of_peak[at] ?? null) === null ? "" : "at least so much, "}{remark}</p>}
      {rows.length > 1 ? <Contexts of={of} rows={rows} /> : null}
    </section>
  )
}

function Contexts({ of, rows }: { of: Profile; rows: readonly number[] }): VNode {
  const [isAll, setAll] = useState(false)
  const values = of.own(metric.value)
  const ranked = [...rows].sort((a, b) => (values[b] || 0) - (values[a] || 0))
  const scale = metricScale(metric.value, ranked.map((row) => values[row]))
  return (
    <>
      <h3>in {rows.length} contexts</h3>
      <ol class="contexts">
        {ranked.slice(0, isAll ? MOST_UNFOLDED : MOST_CONTEXTS).map((row) => (
          <li key={row}>
            <button class="link" onClick={() => selectRow(row)} title={pathText(of, row, 4000)}>
              {pathText(of, row, 4000)}
            </button>
            <Num of={scale === null ? metricQuantity(metric.value, values[row]) : inScale(values[row], scale)} />
          </li>
        ))}
      </ol>
      {rows.length <= MOST_CONTEXTS ? null : (
        <button class="link" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "fewer" : `and ${text(count(rows.length - MOST_CONTEXTS))} more`}
        </button>
      )}
    </>
  )
}

function Known({ name, value, as }: { name: string; value: number | null | undefined; as(value: number): Quantity }): VNode | null {
  return value === null || value === undefined ? null : <Fact name={name} of={as(value)} />
}

function times(extent: string | null | undefined): string | null {
  return extent?.replaceAll("x", "×") ?? null
}
