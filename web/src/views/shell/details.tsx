/** The pane on the right: all there is to say of the selection, in every view the same. */
import { Fragment, type VNode } from "preact"
import { NUM_SAMPLES, type Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import { metric, page, profile, selectRow, selectedKernel, selectedRow, selection } from "../../state"
import { type Quantity, amount, count, metricQuantity, percent, plainName, text, time } from "../../units"
import { Fact, Num, Quantile, Row, STALLED, Words, isOfSamples, pathText, shortName } from "../widgets/facts"
import { VIEWS } from "./registry"

const MOST_CONTEXTS = 12
const MOST_REASONS = 5
const PATH_HEAD = 4
const PATH_TAIL = 12

export function Details(): VNode {
  const shown = profile.value
  if (shown === null || selection.value === null) {
    return (
      <aside class="details empty" aria-label="selection">
        <p class="quiet">Click a kernel or a context in any view to see its details here.</p>
        <p class="quiet">
          <kbd>/</kbd> searches, <kbd>?</kbd> lists all keys.
        </p>
      </aside>
    )
  }
  const row = selectedRow.value
  const kernel = selectedKernel.value
  const current = page.value
  return (
    <aside class="details" aria-label="selection">
      <button class="close" title="clear the selection (Esc)" onClick={() => (selection.value = null)}>
        ×
      </button>
      {row !== null ? <Context of={shown} row={row} /> : null}
      {kernel !== null ? <Kernel of={shown} name={kernel} alone={row === null} /> : null}
      {VIEWS.map((view) => {
        const More = view.Details
        return More === undefined || current === null || !view.isPresent(current, shown) ? null : <More key={view.id} />
      })}
    </aside>
  )
}

function Context({ of, row }: { of: Profile; row: number }): VNode {
  const path = of.path(row)
  const whole = of.value(metric.value, 0)
  return (
    <section>
      <h2 title={of.whole(of.rawName(row))}>{row === 0 ? "everything" : cutMiddle(of.name(row), 160)}</h2>
      <Path of={of} rows={path.slice(0, -1)} />
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
            {cutMiddle(shortName(of, above), 48)}
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
      <Known name="shared memory" value={launch.shared} as={bytes} />
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
  const isKnown = [table.flop_per_s[at], table.byte_per_s[at]].some((rate) => (rate ?? null) !== null)
  return (
    <section>
      {alone ? <h2 title={of.whole(name)}>{cutMiddle(of.shown(name), 160)}</h2> : null}
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
            <Known name="shared memory" value={table.shared[at]} as={bytes} />
            <Known name="occupancy" value={table.occupancy[at]} as={percent} />
          </>
        ) : null}
        {isKnown ? (
          <>
            <Fact name="arithmetic" of={amount(table.flop_per_s[at], "FLOP/s")} />
            <Fact name="memory" of={amount(table.byte_per_s[at], "B/s")} />
            <Fact name="of peak" of={percent(table.share_of_peak[at])} />
            <Words name="bound by" of={table.bound[at] ?? null} />
            <Fact name="could be saved" of={time(table.headroom_ns[at])} />
          </>
        ) : null}
      </dl>
      {isKnown || table.kind[at] !== "k" ? null : <p class="quiet">Its operations and bytes are not known.</p>}
      {rows.length > 1 ? <Contexts of={of} rows={rows} /> : null}
    </section>
  )
}

function Contexts({ of, rows }: { of: Profile; rows: readonly number[] }): VNode {
  const values = of.own(metric.value)
  const ranked = [...rows].sort((a, b) => (values[b] || 0) - (values[a] || 0))
  return (
    <>
      <h3>in {rows.length} contexts</h3>
      <ol class="contexts">
        {ranked.slice(0, MOST_CONTEXTS).map((row) => (
          <li key={row}>
            <button class="link" onClick={() => selectRow(row)} title={pathText(of, row, 4000)}>
              {pathText(of, row, 60)}
            </button>
            <Num of={metricQuantity(metric.value, values[row])} />
          </li>
        ))}
      </ol>
      {rows.length > MOST_CONTEXTS ? <p class="quiet">and {rows.length - MOST_CONTEXTS} more</p> : null}
    </>
  )
}

function Known({ name, value, as }: { name: string; value: number | null | undefined; as(value: number): Quantity }): VNode | null {
  return value === null || value === undefined ? null : <Fact name={name} of={as(value)} />
}

function bytes(value: number): Quantity {
  return amount(value, "B")
}

function times(extent: string | null | undefined): string | null {
  return extent?.replaceAll("x", "×") ?? null
}
