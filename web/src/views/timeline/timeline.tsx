/** The timeline: host threads, streams, graphs and insides of kernels over time, with idle causes. */
import { computed, signal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks } from "../../draw/canvas"
import { huesOf, stepsOf } from "../../draw/timeline/colors"
import type { Range } from "../../layout/axis"
import { Chart, type Hit, type Marks } from "../../layout/timeline/chart"
import { closedAtFirst, rowsOf } from "../../layout/timeline/rows"
import { rangeOfText, rangeText, wholeRange } from "../../layout/timeline/window"
import type { Profile } from "../../model"
import { timelineOf } from "../../layout/timeline/spans"
import { groupsOf, hidesLibrary, isDark, matcher, profile, regroup, rowOfSpan, selectedKernel, selection, setZoom, zoom } from "../../state"
import "./timeline.css"
import { useSize } from "../widgets/canvas_hooks"
import { LibrarySwitch } from "../widgets/facts"
import { hover } from "../widgets/hover"
import { Card, SpanDetails } from "./card"
import { Legend } from "./legend"
import { Names } from "./lane_names"
import { Stage } from "./stage"
import { TimelineTable, endStretch, marksStretches, picked, shownTable, stretch, toggleTable } from "./table"
import { labelsOf } from "./texts"
import type { View } from "../widgets/view"

const ID = "timeline"

/** The one that is shown; keys go to it. */
let stage: Stage | null = null
const charts = new WeakMap<Profile, Chart>()
const chartsOfOwn = new WeakMap<Profile, Chart>() // without frames of libraries
/** What `n` goes through: what a search found, or else what is selected. */
let marked: Marks | null = null
/** The window when it last came to rest: what the legend sums up. */
const rested = signal<Range | null>(null)

rowOfSpan.value = (of, index) => timelineOf(of)?.row(index) ?? null

function chartOf(of: Profile): Chart | null {
  const timeline = timelineOf(of)
  const isOwn = hidesLibrary.value && timeline !== null && timeline.part.library.length > 0
  const made = isOwn ? chartsOfOwn : charts
  let chart = made.get(of)
  if (chart === undefined && timeline !== null) made.set(of, (chart = new Chart(timeline, isOwn)))
  return chart ?? null
}

function TimelineView(): VNode | null {
  const shown = profile.value
  const chart = shown === null ? null : chartOf(shown)
  return shown === null || chart === null ? null : <Lanes key={shown.source} of={shown} chart={chart} />
}

function Lanes({ of, chart }: { of: Profile; chart: Chart }): VNode {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(chart.groups))
  const [hovered, setHovered] = useState<number | null>(null)
  const [scroll, setScroll] = useState<[number, number]>([0, 2000])
  const parts = useRef<Record<string, HTMLElement | null>>({})
  const scroller = useRef<HTMLElement | null>(null)
  const { height: room } = useSize(scroller)
  const all = useMemo(() => rowsOf(chart.groups, closed, (lane) => chart.depth(lane), room), [chart, closed, room])
  const paint = useMemo(() => {
    const { timeline } = chart
    return { hues: huesOf(timeline), steps: stepsOf(timeline), label: labelsOf(timeline, of) }
  }, [chart, of])
  const found = useFound(chart, paint.label)
  const chosen = useChosen(of, chart)
  marked = found ?? chosen
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
        onHover: (hit, at) => {
          setHovered(hit?.kind === "span" ? hit.span : null)
          hover(at, hit === null || hit.kind === "group" ? null : <Card of={of} chart={chart} hit={hit} />)
        },
        onPick: (hit) => pick(chart, hit, latest.current),
        onStretch: (range) => stretch(range),
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
  useEffect(() => {
    if (stage !== null) stage.marksStretches = marksStretches.value
    stage?.show({ chart, all, closed, dark, ...paint, found, chosen, selected, hovered, picked: picked.value, colors: inks() })
  })
  useEffect(() => {
    if (selected !== null && chart.timeline.has(selected)) stage?.reveal(selected, false)
  }, [selected, chart])

  const keep = (name: string) => (element: HTMLElement | null): void => {
    parts.current[name] = element
  }
  return (
    <div class="timeline">
      <Legend chart={chart} dark={dark} range={rested.value} />
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
          <button title="drag over a stretch of time to sum it up (m); dragging with the shift key does too" aria-pressed={marksStretches.value} onClick={() => (marksStretches.value = !marksStretches.value)}>
            sum
          </button>
          <button title="what is in view as a table (t)" aria-pressed={shownTable.value !== null} onClick={toggleTable}>
            table
          </button>
        </div>
        <div class="timeline-map">
          <canvas ref={keep("map")} aria-label="the whole trace" />
          <div class="timeline-frame" ref={keep("frame")} />
        </div>
      </div>
      <div class="timeline-head">
        <div class="timeline-gutter">{chart.timeline.part.library.length === 0 ? null : <LibrarySwitch many="spans" onPress={toggleLibrary} />}</div>
        <canvas class="timeline-axis" ref={keep("axis")} />
      </div>
      <div
        class="timeline-lanes"
        ref={(box) => {
          keep("scroller")(box)
          scroller.current = box
        }}
        onScroll={(event) => setScroll([event.currentTarget.scrollTop, event.currentTarget.clientHeight])}
      >
        <div class="timeline-sheet" style={{ height: `${all.height}px` }}>
          <Names chart={chart} range={rested.value} all={all} closed={closed} scroll={scroll} toggle={toggle} />
          <div class="timeline-canvas">
            <canvas ref={keep("canvas")} aria-label="lanes over time" />
          </div>
        </div>
      </div>
      <TimelineTable of={of} chart={chart} inView={rested.value ?? chart.timeline.part.extent_ns} onGo={(range) => stage?.go(range, true)} />
    </div>
  )
}

/** How many spans fit the search; null where nothing is searched for. */
const spansFound = computed<number | null>(() => {
  const [of, fits] = [profile.value, matcher.value]
  const timeline = of === null ? null : timelineOf(of)
  if (of === null || timeline === null || fits === null) return null
  const label = labelsOf(timeline, of)
  const isHit = Array.from({ length: timeline.lookCount }, (_, look) => fits(label(look)) || fits(timeline.nameOfLook(look)))
  let found = 0
  const isShown = (look: number): boolean => !(hidesLibrary.value && timeline.isLibrary(look))
  for (let look = 0; look < isHit.length; look++) isHit[look] &&= isShown(look)
  for (let span = 0; span < timeline.look.length; span++) if (isHit[timeline.look[span] as number]) found++
  return found
})

/** Select the next span that fits the search, and go there. */
function goToHit(): boolean {
  if (stage === null || marked === null || matcher.value === null) return false
  const index = selection.value?.kind === "span" ? selection.value.index : null
  const after = index === null ? Number.NEGATIVE_INFINITY : (stage.chart.timeline.starts[index] as number)
  select(stage.chart.nextMarked(marked, after, true) ?? stage.chart.nextMarked(marked, Number.NEGATIVE_INFINITY, true))
  return true
}

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
  const group = selection.value?.kind === "group" ? selection.value.group : null
  return useMemo(() => {
    const { timeline } = chart
    const known = group === null ? null : groupsOf(of)
    const isChosen = (at: number): boolean => {
      if (known !== null && group !== null) return (known.of[at] as number) >= group && (known.of[at] as number) < (known.ends[group] ?? 0)
      if (row !== null && row > 0) return at >= row && at < (of.ends[row] ?? 0)
      return kernel !== null && of.isWork(at) && of.rawName(at) === kernel
    }
    if (known === null && kernel === null && (row === null || row === 0)) return null
    return chart.marks((look) => {
      const at = timeline.rowOfLook(look)
      return at !== null && isChosen(at)
    })
  }, [of, chart, kernel, row, group])
}

function toggleLibrary(): void {
  regroup({ hidesLibrary: !hidesLibrary.value })
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

function onKey(event: KeyboardEvent): boolean {
  if (stage === null) return false
  const index = selection.value?.kind === "span" ? selection.value.index : null
  switch (event.key) {
    case "m":
      marksStretches.value = !marksStretches.value
      return true
    case "t":
      toggleTable()
      return true
    case "l":
      if (stage.chart.timeline.part.library.length === 0) return false
      toggleLibrary()
      return true
    case "Escape":
      return endStretch()
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
    case "n":
    case "N":
      return follow(stage, index, event.key === "n")
    case "ArrowLeft":
    case "ArrowRight":
    case "ArrowUp":
    case "ArrowDown":
      if (index === null) return event.key === "ArrowDown" && follow(stage, null, true) // out of the search
      select(neighbour(stage.chart, index, event.key))
      return true
    default:
      return false
  }
}

/** The span beside, around or inside another. */
function neighbour(chart: Chart, span: number, key: string): number | null {
  if (key === "ArrowUp" || key === "ArrowDown") return chart.nested(span, key === "ArrowUp")
  const place = chart.placeOf(span)
  return (key === "ArrowLeft" ? place?.before : place?.after) ?? null
}

/** Go to the marked span after or before the selected one, or else to the first in view. */
function follow(on: Stage, span: number | null, forward: boolean): boolean {
  if (marked === null) return false
  const [from, to] = on.target
  const time = span === null ? (forward ? from : to) : (on.chart.timeline.starts[span] as number)
  select(on.chart.nextMarked(marked, time, forward))
  return true
}

function select(span: number | null): void {
  if (span !== null) selection.value = { kind: "span", index: span }
}

export const timeline: View = {
  id: ID,
  title: "Timeline",
  key: "4",
  isPresent: (_page, of) => of.parts.trace !== null,
  Component: TimelineView,
  Details: SpanDetails,
  onKey,
  hits: () => (spansFound.value === null ? null : [spansFound.value, "spans"]),
  goToHit,
  keys: [
    ["w s", "zoom in and out, around the pointer (the wheel does too)"],
    ["a d", "move left and right (dragging does too)"],
    ["0", "the whole trace"],
    ["f", "zoom to the selected span (a double click does too)"],
    ["← → ↑ ↓", "the span before, after, around or inside the selected one"],
    ["n N", "the next or previous one that the search found, or of the selected kernel"],
    ["shift wheel", "lanes up and down"],
    ["shift drag", "sum up a stretch of time; m makes dragging do that, Esc ends it"],
    ["t", "what is in view as a table"],
    ["l", "hide library frames, or show them"],
  ],
}
