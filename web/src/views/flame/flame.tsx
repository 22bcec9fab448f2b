/** The flame graph: an icicle from the root downward, or kernels with their callers below. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks, prepared } from "../../draw/canvas"
import { hueOfKind } from "../../draw/colors"
import { drawFlame } from "../../draw/flame"
import { type FlameLayout, type Step, layoutFlame, levelHeight, neighbour, placeAt, placeOf, shownWidth } from "../../layout/flame/boxes"
import { scrollTo } from "../../layout/rows"
import { cutMiddle } from "../../names"
import { isDark, matches, metric, profile, selectKernel, selectRow, selectedKernel, selectedRow } from "../../state"
import { percent, plainName, text } from "../../units"
import { useSize } from "../widgets/canvas_hooks"
import { shortName } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import "./flame.css"
import { FlameCard } from "./card"
import { type Flames, flames, focus, isHit, state, zoomBack, zoomTo, zoomed, zoomedRange } from "./flame_state"
import { FlameTools, turn } from "./tools"
import type { View } from "../widgets/view"

const LEAST = 1.5 // pixels
let current: { drawn: Flames; layout: FlameLayout } | null = null

export const flame: View = {
  id: "flame",
  title: "Flame",
  key: "2",
  isPresent: (_page, shown) => shown.metrics.some((name) => shown.metricKind(name) !== "property"),
  Component: Flame,
  onKey,
  keys: [
    ["← ↑ → ↓", "go to a neighbour, the parent, the widest child"],
    ["Enter", "zoom to the selected box; double click does too"],
    ["Esc", "zoom back"],
    ["c", "callers, or from the root down"],
  ],
}

function Flame(): VNode {
  const drawn = flames.value
  if (drawn === null) {
    const name = plainName(metric.value)
    return <p class="quiet">“{cutMiddle(name, 60)}” does not add up to a whole, so it has no flame graph; choose another metric above.</p>
  }
  return (
    <div class="flame-view">
      <FlameTools of={drawn} />
      <Graph of={drawn} />
    </div>
  )
}

function Graph({ of }: { of: Flames }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(place)
  const [pointed, setPointed] = useState(-1)
  const zoom = zoomed.value
  const range = zoomedRange.value
  const layout = useMemo(
    () => layoutFlame(of.tree, { zoom, range, width: size.width, least: LEAST }),
    [of, zoom, range, size.width],
  )
  const level = levelHeight(layout.height, size.height)
  current = { drawn: of, layout }
  const paint = (): void => paintInto(place.current, canvas.current, of, layout, level, pointed)

  useLayoutEffect(paint)
  useLayoutEffect(() => show(place.current, of.tree.depth(zoom), level, true), [of, zoom])
  useLayoutEffect(() => {
    const at = focusPlace(of, layout)
    if (at >= 0) show(place.current, layout.levels[at] as number, level, false)
  }, [selectedRow.value, focus.value])

  const find = (event: MouseEvent): number => {
    const box = place.current
    if (box === null) return -1
    const edge = box.getBoundingClientRect()
    return placeAt(layout, event.clientX - edge.left, Math.floor((event.clientY - edge.top + box.scrollTop) / level))
  }
  return (
    <div
      class="flame-scroll"
      ref={place}
      onScroll={paint}
      onMouseMove={(event) => {
        const at = find(event)
        setPointed(at)
        hover(event, at < 0 ? null : <FlameCard of={of} layout={layout} place={at} zoom={zoom} seen={shownWidth(of.tree, zoom, range)} />)
      }}
      onMouseLeave={() => {
        setPointed(-1)
        leave()
      }}
      onClick={(event) => pick(of, layout, find(event))}
      onDblClick={(event) => open(layout, find(event))}
    >
      <canvas ref={canvas} role="img" aria-label={`flame graph of ${plainName(metric.value)}`} />
      <div class="flame-space" style={{ height: `${layout.height * level}px` }} />
    </div>
  )
}

function paintInto(
  box: HTMLDivElement | null,
  canvas: HTMLCanvasElement | null,
  of: Flames,
  layout: FlameLayout,
  level: number,
  hover: number,
): void {
  if (box === null || canvas === null) return
  const { clientWidth: width, clientHeight: height } = box
  const context = prepared(canvas, width, height)
  if (context === null) return
  const { accent, ink } = inks()
  const { of: shown, tree } = of
  const hits = matches.value
  const whole = shownWidth(tree, zoomed.value, zoomedRange.value)
  const focused = focusPlace(of, layout)
  drawFlame(context, {
    layout,
    level,
    width,
    height,
    top: box.scrollTop,
    dark: isDark.value,
    accent,
    ink,
    nameOf: (each) => (each === 0 ? "everything" : shortName(shown, tree.row(each))),
    hueOf: (each) => hueOfKind(each === 0 ? "r" : shown.kind(tree.row(each))),
    // What is above the zoom is more than what is seen: no share of it.
    shareOf: (each) => (tree.width(each) > whole * (1 + 1e-9) ? "" : text(percent(tree.width(each) / whole))),
    isSelected: (each) => each !== 0 && isSelected(of, tree.row(each), each),
    isDim: (each) => hits !== null && hits[tree.row(each)] !== 1,
    isHit: (each, from, many) => isHit(of, each, from, many),
    hover,
    focus: focused,
  })
}

function isSelected(of: Flames, row: number, box: number): boolean {
  if (of.isCallers && of.tree.depth(box) > 1) return row === selectedRow.value
  return row === selectedRow.value || (selectedKernel.value !== null && of.of.isWork(row) && of.of.rawName(row) === selectedKernel.value)
}

/** The place that arrows go from. */
function focusPlace(of: Flames, layout: FlameLayout): number {
  if (!of.isCallers) return selectedRow.value === null ? -1 : placeOf(layout, of.tree, selectedRow.value)
  return focus.value === null ? -1 : placeOf(layout, of.tree, focus.value)
}

function pick(of: Flames, layout: FlameLayout, place: number): void {
  if (place < 0 || layout.hidden[place] !== 0) return
  const box = layout.boxes[place] as number
  const row = of.tree.row(box)
  focus.value = box
  if (of.isCallers && of.tree.depth(box) === 1 && of.of.isWork(row)) selectKernel(of.of.rawName(row))
  else selectRow(row)
}

function open(layout: FlameLayout, place: number): void {
  if (place < 0) return
  const [hidden, from] = [layout.hidden[place] as number, layout.froms[place] as number]
  zoomTo(layout.boxes[place] as number, hidden === 0 ? null : [from, from + hidden])
}

/** Scroll so that a level is seen. */
function show(box: HTMLDivElement | null, depth: number, level: number, isZoom: boolean): void {
  if (box === null) return
  const top = depth * level
  if (isZoom) box.scrollTop = Math.max(0, top - 4 * level)
  else box.scrollTop = scrollTo(depth, level, box.scrollTop, box.clientHeight)
}

const STEPS: Record<string, Step> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }

function onKey(event: KeyboardEvent): boolean {
  if (current === null || profile.value === null) return false
  const { drawn, layout } = current
  if (event.key === "c") {
    turn(!state.value.isCallers)
    return true
  }
  if (event.key === "Escape") return zoomBack()
  const at = focusPlace(drawn, layout)
  if (event.key === "Enter") {
    if (at >= 0) open(layout, at)
    else if (!drawn.isCallers && selectedRow.value !== null) zoomTo(selectedRow.value) // too narrow to be seen
    return true
  }
  const step = STEPS[event.key]
  if (step === undefined) return false
  pick(drawn, layout, at < 0 ? 0 : neighbour(layout, at, step))
  return true
}
