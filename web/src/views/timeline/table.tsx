/** What runs in view, or in a stretch of time that was dragged over, as a table: summed up by name, or span by span. */
import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import { strongOf } from "../../draw/colors"
import { HUES, hueOfSpan } from "../../draw/timeline/colors"
import type { Range } from "../../layout/axis"
import type { Chart } from "../../layout/timeline/chart"
import { type NameSum, spansIn, sumsIn } from "../../layout/timeline/sums"
import type { Profile } from "../../model"
import { printable } from "../../names"
import { isDark, selection } from "../../state"
import { exactTime, grouped, text, time } from "../../units"
import { COUNT, SHARE, TIME, type TableColumn, numberColumn, wordColumn } from "../widgets/columns"
import { Choice } from "../widgets/facts"
import { Table } from "../widgets/table"

const MOST_SPANS = 5000

/** The stretch of time that is summed up; null: what is in view. */
export const picked = signal<Range | null>(null)
/** Whether dragging marks a stretch instead of moving the window. */
export const marksStretches = signal(false)
/** Which table is shown; null: none. */
export const shownTable = signal<"names" | "spans" | null>(null)

const sort = signal("-ns")

export function stretch(range: Range): void {
  picked.value = range
  shownTable.value ??= "names"
}

/** No stretch, no table; false where there was none. */
export function endStretch(): boolean {
  const wasThere = picked.value !== null || marksStretches.value
  if (picked.value !== null) shownTable.value = null
  picked.value = null
  marksStretches.value = false
  return wasThere
}

export function toggleTable(): void {
  shownTable.value = shownTable.value === null ? "names" : null
  picked.value = null
}

interface TableOf {
  of: Profile
  chart: Chart
  inView: Range
  onGo(range: Range): void
}

export function TimelineTable({ of, chart, inView, onGo }: TableOf): VNode | null {
  const kind = shownTable.value
  if (kind === null) return null
  const { extent_ns: extent } = chart.timeline.part
  const range: Range = picked.value ?? [Math.max(inView[0], extent[0]), Math.min(inView[1], extent[1])]
  return (
    <section class="timeline-table" aria-label={picked.value === null ? "what is in view" : "the selected stretch of time"}>
      <div class="toolbar">
        <Choice
          label="rows"
          options={[
            { id: "names", title: "By name", hint: "sums of all spans of a name" },
            { id: "spans", title: "Spans", hint: "one row a span" },
          ]}
          value={kind}
          onPick={(id) => {
            shownTable.value = id === "spans" ? "spans" : "names"
            sort.value = id === "spans" ? "start" : "-ns"
          }}
        />
        <span>
          <b>{text(time(range[1] - range[0]))}</b> {picked.value === null ? "in view" : "selected"}{" "}
          <span class="quiet">
            from {text(exactTime(Math.round(range[0] - extent[0])))} to {text(exactTime(Math.round(range[1] - extent[0])))}
          </span>
        </span>
        <span class="gap" />
        {picked.value === null ? null : (
          <button class="link" onClick={() => onGo(range)}>
            zoom to it
          </button>
        )}
        <button class="link" title="close the table" onClick={() => (picked.value === null ? toggleTable() : endStretch())}>
          close
        </button>
      </div>
      {kind === "names" ? <Names of={of} chart={chart} range={range} /> : <Spans of={of} chart={chart} range={range} />}
    </section>
  )
}

interface RowsOf {
  of: Profile
  chart: Chart
  range: Range
}

/** The name of a span with the colour of its kind. */
function nameColumn<Row>(of: Profile, chart: Chart, spanOf: (row: Row) => number): TableColumn<Row> {
  const raw = (row: Row): string => chart.timeline.name(spanOf(row))
  const dark = isDark.value
  return {
    id: "name",
    title: "name",
    isText: true,
    name: (row) => printable(of.shown(raw(row))),
    whole: (row) => printable(of.whole(raw(row))),
    key: (row) => printable(of.shown(raw(row))),
    before: (row) => <span class="swatch" style={{ background: strongOf(HUES[hueOfSpan(chart.timeline, spanOf(row))] ?? "host", dark) }} />,
  }
}

function Names({ of, chart, range }: RowsOf): VNode {
  const rows = useMemo(() => sumsIn(chart, range), [chart, range[0], range[1]])
  const length = range[1] - range[0]
  const columns: TableColumn<NameSum>[] = [
    nameColumn(of, chart, (row) => row.longest),
    wordColumn({ id: "kind", title: "kind", width: 76, of: (row) => row.kind }),
    numberColumn(rows, { id: "n", title: "n", width: 76, as: COUNT, of: (row) => row.count }),
    numberColumn(rows, { id: "ns", title: "total", width: 104, as: TIME, of: (row) => row.ns, hint: "of the part inside, where a span reaches beyond" }),
    numberColumn(rows, { id: "share", title: "of the range", width: 96, as: SHARE, of: (row) => (length > 0 ? row.ns / length : null), hint: "spans of several lanes may run at once: more than 100 %" }),
    numberColumn(rows, { id: "avg", title: "average", width: 104, as: TIME, of: (row) => row.ns / row.count }),
  ]
  return (
    <Table
      label="spans by name"
      columns={columns}
      rows={rows}
      idOf={(row) => `${row.kind} ${row.name}`}
      isSelected={(row) => selection.value?.kind === "span" && selection.value.index === row.longest}
      onSelect={(row) => (selection.value = { kind: "span", index: row.longest })}
      sort={sort.value}
      onSort={(to) => (sort.value = to)}
      foot={<span>a click selects the longest of a name</span>}
    />
  )
}

function Spans({ of, chart, range }: RowsOf): VNode {
  const { spans, count } = useMemo(() => spansIn(chart, range, MOST_SPANS), [chart, range[0], range[1]])
  const { timeline } = chart
  const zero = timeline.part.extent_ns[0]
  const laneOf = (span: number): string => {
    const lane = timeline.lanes[timeline.laneOf(span)]
    return lane === undefined ? "" : printable(`${lane.group} ${lane.name}`)
  }
  const exact = (title: string, at: (span: number) => number): TableColumn<number> => ({
    id: title,
    title,
    width: 130,
    key: at,
    cell: (span) => text(exactTime(at(span))),
    words: (span) => text(exactTime(at(span))),
    raw: at,
    rawUnit: "ns",
  })
  const columns: TableColumn<number>[] = [
    nameColumn(of, chart, (span) => span),
    wordColumn({ id: "lane", title: "lane", width: 160, of: laneOf }),
    wordColumn({ id: "kind", title: "kind", width: 76, of: (span) => timeline.kind(span) }),
    exact("start", (span) => (timeline.starts[span] as number) - zero),
    exact("end", (span) => (timeline.ends[span] as number) - zero),
    exact("duration", (span) => (timeline.ends[span] as number) - (timeline.starts[span] as number)),
  ]
  return (
    <Table
      label="spans"
      columns={columns}
      rows={spans}
      idOf={String}
      isSelected={(span) => selection.value?.kind === "span" && selection.value.index === span}
      onSelect={(span) => (selection.value = { kind: "span", index: span })}
      sort={sort.value}
      onSort={(to) => (sort.value = to)}
      foot={count > spans.length ? <span>the first {grouped(spans.length)} of {grouped(count)} spans; zoom in for the others</span> : null}
    />
  )
}
