/** The names beside the lanes of a timeline: groups that open and close, and how busy streams are. */
import type { VNode } from "preact"
import type { Chart } from "../../layout/timeline/chart"
import { type Row, type Rows, visibleRows } from "../../layout/timeline/rows"
import type { Range } from "../../layout/axis"
import { cutMiddle, printable } from "../../names"
import { percent, text } from "../../units"

interface NamesOf {
  chart: Chart
  range: Range | null
  all: Rows
  closed: ReadonlySet<string>
  scroll: [number, number]
  toggle(group: string): void
}

/** The names on the left; only those in sight are there. */
export function Names({ chart, range, all, closed, scroll, toggle }: NamesOf): VNode {
  return (
    <div class="timeline-names">
      {visibleRows(all, scroll[0] - 400, scroll[0] + scroll[1] + 400).map((row) =>
        row.lane === null ? (
          <GroupName key={`g${row.group}`} row={row} chart={chart} isOpen={!closed.has(row.group)} toggle={toggle} />
        ) : (
          <LaneName key={row.lane} row={row} lane={row.lane} chart={chart} range={range} />
        ),
      )}
    </div>
  )
}

function GroupName({ row, chart, isOpen, toggle }: { row: Row; chart: Chart; isOpen: boolean; toggle(group: string): void }): VNode {
  const count = chart.groups.find((group) => group.name === row.group)?.lanes.length ?? 0
  const place = { top: `${row.top}px`, height: `${row.height}px` }
  return (
    <button class="timeline-group" style={place} aria-expanded={isOpen} title={printable(row.group)} onClick={() => toggle(row.group)}>
      <span class="timeline-arrow">{isOpen ? "▾" : "▸"}</span>
      <span class="timeline-name">{printable(row.group).slice(0, 60)}</span>
      {count > 1 ? <span class="quiet">{count}</span> : null}
    </button>
  )
}

function LaneName({ row, lane, chart, range }: { row: Row; lane: number; chart: Chart; range: Range | null }): VNode {
  const shown = chart.timeline.lanes[lane]
  const name = printable(shown?.name ?? "")
  return (
    <div class="timeline-lane" style={{ top: `${row.top}px`, height: `${row.height}px` }} title={name}>
      <span class="timeline-name">{cutMiddle(name, 60)}</span>
      <span class="quiet" title="share of the time between this stream's first and last work, as far as it is in view, in which the stream had work">
        {busyText(chart, lane, range)}
      </span>
    </div>
  )
}

/** How busy a stream is in the window, between its first and its last work. */
function busyText(chart: Chart, lane: number, range: Range | null): string {
  const sums = chart.gaps(lane)
  const track = chart.tracks(lane)[0]
  if (sums === null || track === undefined || range === null || track.starts.length === 0) return ""
  const from = Math.max(range[0], track.starts[0] as number)
  const to = Math.min(range[1], track.ends[track.ends.length - 1] as number)
  if (to <= from) return ""
  const idle = sums.inWindow(from, to).reduce((sum, each) => sum + each, 0)
  return `${text(percent(1 - idle / (to - from)))} busy`
}
