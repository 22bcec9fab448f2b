/** The timeline: host threads, streams, graphs and insides of kernels over time, with idle causes. */
import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { causeColor, huesOf, stepsOf } from "../draw/timeline_colors"
import { Chart, type Hit, type Marks } from "../layout/timeline_chart"
import { type Row, type Rows, closedAtFirst, rowsOf, visibleRows } from "../layout/timeline_rows"
import { type Range, rangeOfText, rangeText, wholeRange } from "../layout/timeline_window"
import type { Profile } from "../model"
import { cutMiddle, printable } from "../names"
import { timelineOf } from "../parts/trace"
import { isDark, matcher, profile, rowOfSpan, selectedKernel, selection, setZoom, zoom } from "../state"
import { percent, text, time } from "../units"
import "./timeline.css"
import { Card, type Pointed, SpanDetails } from "./timeline_card"
import { Stage } from "./timeline_stage"
import { causeText, labelsOf } from "./timeline_text"
import type { View } from "./view"

const ID = "timeline"

/** The one that is shown; keys go to it. */
let stage: Stage | null = null
const charts = new WeakMap<Profile, Chart>()
/** The window when it last came to rest: what the legend sums up. */
const rested = signal<Range | null>(null)

rowOfSpan.value = (of, index) => timelineOf(of)?.row(index) ?? null

function chartOf(of: Profile): Chart | null {
  const timeline = timelineOf(of)
  let chart = charts.get(of)
  if (chart === undefined && timeline !== null) charts.set(of, (chart = new Chart(timeline)))
  return chart ?? null
}

function TimelineView(): VNode | null {
  const shown = profile.value
  const chart = shown === null ? null : chartOf(shown)
  return shown === null || chart === null ? null : <Lanes key={shown.source} of={shown} chart={chart} />
}

function Lanes({ of, chart }: { of: Profile; chart: Chart }): VNode {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(chart.groups))
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const [scroll, setScroll] = useState<[number, number]>([0, 2000])
  const parts = useRef<Record<string, HTMLElement | null>>({})
  const all = useMemo(() => rowsOf(chart.groups, closed, (lane) => chart.depth(lane)), [chart, closed])
  const paint = useMemo(() => {
    const { timeline } = chart
    return { hues: huesOf(timeline), steps: stepsOf(timeline), label: labelsOf(timeline, of) }
  }, [chart, of])
  const found = useFound(chart, paint.label)
  const chosen = useChosen(of, chart)
  const selected = selection.value?.kind === "span" ? selection.value.index : null
  const toggle = (group: string): void => {
    const next = new Set(closed)
    if (!next.delete(group)) next.add(group)
    setClosed(next)
  }
  const latest = useRef(toggle)
  latest.current = toggle

  useEffect(() => {
    const { canvas, axis, map, frame, scroller } = parts.current
    if (!canvas || !axis || !map || !frame || !scroller) return undefined
    const extent = chart.timeline.part.extent_ns
    const made = new Stage(
      canvas as HTMLCanvasElement,
      axis as HTMLCanvasElement,
      map as HTMLCanvasElement,
      frame,
      scroller,
      chart,
      {
        onRest: (range) => rest(chart, range),
        onHover: (hit, x, y) => setPointed(hit === null ? null : { hit, x, y }),
        onPick: (hit) => pick(chart, hit, latest.current),
      },
      rangeOfText(zoom.value[ID] ?? "", extent),
    )
    stage = made
    rested.value = made.range
    return () => {
      made.close()
      if (stage === made) stage = null
    }
  }, [chart])

  // The back button and shared addresses move the window as well.
  const wanted = zoom.value[ID] ?? ""
  useEffect(() => {
    const extent = chart.timeline.part.extent_ns
    if (stage === null || rangeText(stage.target, extent) === wanted) return
    if (wanted === "" && rangeText(stage.target, extent) === rangeText(wholeRange(extent), extent)) return
    stage.go(rangeOfText(wanted, extent) ?? wholeRange(extent), false)
  }, [wanted, chart])

  const dark = isDark.value
  const hovered = pointed?.hit.kind === "span" ? pointed.hit.span : null
  useEffect(() => {
    stage?.show({ chart, all, closed, dark, ...paint, found, chosen, selected, hovered, colors: colorsOf(parts.current["canvas"]) })
  })
  useEffect(() => {
    if (selected !== null && chart.timeline.has(selected)) stage?.reveal(selected, false)
  }, [selected, chart])

  const keep = (name: string) => (element: HTMLElement | null): void => {
    parts.current[name] = element
  }
  const { clientWidth = 0, clientHeight = 0 } = parts.current["scroller"] ?? {}
  return (
    <div class="timeline">
      <Legend chart={chart} dark={dark} />
      <div class="timeline-head">
        <div class="timeline-gutter">
          <button title="show everything (0)" onClick={() => stage?.whole()}>
            whole
          </button>
          <button title="zoom in (w)" aria-label="zoom in" onClick={() => stage?.zoom(0.5)}>
            +
          </button>
          <button title="zoom out (s)" aria-label="zoom out" onClick={() => stage?.zoom(2)}>
            −
          </button>
        </div>
        <div class="timeline-map">
          <canvas ref={keep("map")} aria-label="the whole trace" />
          <div class="timeline-frame" ref={keep("frame")} />
        </div>
      </div>
      <div class="timeline-head">
        <div class="timeline-gutter" />
        <canvas class="timeline-axis" ref={keep("axis")} />
      </div>
      <div
        class="timeline-lanes"
        ref={keep("scroller")}
        onScroll={(event) => setScroll([event.currentTarget.scrollTop, event.currentTarget.clientHeight])}
      >
        <div class="timeline-sheet" style={{ height: `${all.height}px` }}>
          <Names chart={chart} all={all} closed={closed} scroll={scroll} toggle={toggle} />
          <div class="timeline-canvas">
            <canvas ref={keep("canvas")} aria-label="lanes over time" />
          </div>
        </div>
      </div>
      {pointed === null ? null : (
        <div class="timeline-cards" style={{ height: `${clientHeight}px` }}>
          <Card of={of} chart={chart} at={pointed} room={[clientWidth - GUTTER, clientHeight]} />
        </div>
      )}
    </div>
  )
}

const GUTTER = 184 // as in timeline.css

/** Marks of the search. */
function useFound(chart: Chart, label: (look: number) => string): Marks | null {
  const fits = matcher.value
  return useMemo(() => {
    if (fits === null) return null
    return chart.marks((look) => fits(label(look)) || fits(chart.timeline.nameOfLook(look)))
  }, [chart, fits, label])
}

/** Marks of the selection: a kernel everywhere, a context with all below it. */
function useChosen(of: Profile, chart: Chart): Marks | null {
  const kernel = selectedKernel.value
  const row = selection.value?.kind === "node" ? selection.value.row : null
  return useMemo(() => {
    const { timeline } = chart
    const isChosen = (at: number): boolean => {
      if (row !== null && row > 0) return at >= row && at < (of.ends[row] ?? 0)
      return kernel !== null && of.isWork(at) && of.rawName(at) === kernel
    }
    if (kernel === null && (row === null || row === 0)) return null
    return chart.marks((look) => {
      const at = timeline.rowOfLook(look)
      return at !== null && isChosen(at)
    })
  }, [of, chart, kernel, row])
}

function pick(chart: Chart, hit: Hit | null, toggle: (group: string) => void): void {
  if (hit?.kind === "group") toggle(hit.group)
  else if (hit?.kind === "span") selection.value = { kind: "span", index: hit.span }
  else if (hit?.kind === "gap") {
    // Whoever clicks idle time wants to know what came next: that is what it waited for.
    const next = chart.afterGap(hit.of, hit.at)
    if (next !== null) selection.value = { kind: "span", index: next }
  } else selection.value = null
}

function rest(chart: Chart, range: Range): void {
  const extent = chart.timeline.part.extent_ns
  rested.value = range
  const whole = rangeText(wholeRange(extent), extent)
  const words = rangeText(range, extent)
  setZoom(ID, words === whole ? "" : words)
}

/** Figures of the whole, and idle time by cause in the window. */
function Legend({ chart, dark }: { chart: Chart; dark: boolean }): VNode | null {
  const { part } = chart.timeline
  const range = rested.value
  const devices = chart.timeline.gaps.filter((gaps) => gaps.lane === null)
  const sums = part.gaps.causes.map(() => 0)
  for (const gaps of devices) {
    const found = range === null ? gaps.sumsNs : chart.gaps(gaps.group)?.inWindow(range[0], range[1])
    found?.forEach((each, cause) => (sums[cause] = (sums[cause] ?? 0) + each))
  }
  const occurring = part.gaps.causes.map((_, cause) => cause).filter((cause) => chart.timeline.gaps.some((gaps) => (gaps.sumsNs[cause] ?? 0) > 0))
  const { shares } = part
  if (shares === null && occurring.length === 0 && part.args_left_out === 0) return null
  return (
    <div class="timeline-legend">
      {shares === null ? null : (
        <span class="timeline-shares" title="of the time from the first to the last span of the trace">
          <b>{text(time(shares.wall_ns))}</b> wall · <b>{text(percent(shares.busy))}</b> busy
          {shares.overlap >= 0.0005 ? (
            <>
              {" "}
              · <b>{text(percent(shares.overlap))}</b> overlapped
            </>
          ) : null}
          {shares.launch_bound === null ? null : (
            <>
              {" "}
              · <b>{text(percent(shares.launch_bound))}</b> launch-bound
            </>
          )}
        </span>
      )}
      {occurring.length === 0 ? null : <span class="quiet" title="time in which no stream of a device had work, in the part that is shown">device idle in view:</span>}
      {occurring.map((cause) => {
        const name = part.gaps.causes[cause] ?? ""
        return (
          <span key={cause} title={causeText(name)} class="timeline-cause">
            <i class="swatch" style={{ background: causeColor(cause, dark) }} />
            {name} {devices.some((gaps) => (gaps.sumsNs[cause] ?? 0) > 0) ? <b>{(sums[cause] ?? 0) > 0 ? text(time(sums[cause])) : "0"}</b> : null}
          </span>
        )
      })}
      {part.args_left_out > 0 ? <span class="quiet">arguments of {part.args_left_out} kinds of spans left out</span> : null}
    </div>
  )
}

interface NamesOf {
  chart: Chart
  all: Rows
  closed: ReadonlySet<string>
  scroll: [number, number]
  toggle(group: string): void
}

/** The names on the left; only those in sight are there. */
function Names({ chart, all, closed, scroll, toggle }: NamesOf): VNode {
  const range = rested.value
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
      <span class="quiet">{busyText(chart, lane, range)}</span>
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
  return text(percent(1 - idle / (to - from)))
}

function colorsOf(element: HTMLElement | null | undefined): Record<"ground" | "line" | "ink" | "quiet" | "accent" | "track", string> {
  const style = getComputedStyle(element ?? document.documentElement)
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  return { ground: of("ground"), line: of("line"), ink: of("ink"), quiet: of("quiet"), accent: of("accent"), track: of("track") }
}

function onKey(event: KeyboardEvent): boolean {
  if (stage === null) return false
  const index = selection.value?.kind === "span" ? selection.value.index : null
  switch (event.key) {
    case "w":
      stage.zoom(0.6)
      return true
    case "s":
      stage.zoom(1 / 0.6)
      return true
    case "a":
      stage.move(-0.25)
      return true
    case "d":
      stage.move(0.25)
      return true
    case "0":
    case "Home":
      stage.whole()
      return true
    case "f":
      if (index !== null) stage.reveal(index, true)
      return index !== null
    case "ArrowLeft":
    case "ArrowRight": {
      const place = index === null ? null : stage.chart.placeOf(index)
      const next = event.key === "ArrowLeft" ? place?.before : place?.after
      if (next !== null && next !== undefined) selection.value = { kind: "span", index: next }
      return index !== null
    }
    default:
      return false
  }
}

export const timeline: View = {
  id: ID,
  title: "Timeline",
  key: "4",
  isPresent: (_page, of) => of.part("trace") !== null,
  Component: TimelineView,
  Details: SpanDetails,
  onKey,
  keys: [
    ["w s", "zoom in and out, around the pointer (the wheel does too)"],
    ["a d", "move left and right (dragging does too)"],
    ["0", "the whole trace"],
    ["f", "zoom to the selected span (a double click does too)"],
    ["← →", "the span before or after the selected one"],
    ["shift wheel", "lanes up and down"],
  ],
}
