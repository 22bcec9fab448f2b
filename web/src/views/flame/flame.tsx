/** The flame graph: an icicle from the root downward, or a name with its callers above and below what it called. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks, prepared } from "../../draw/canvas"
import { hueOfKind } from "../../draw/colors"
import { drawFlame } from "../../draw/flame"
import { type FlameLayout, type Step, boxesAt, layoutFlame, levelHeight, moveWindow, neighbour, placeAt, placeOf, zoomWindow } from "../../layout/flame/boxes"
import type { Range } from "../../layout/axis"
import { scrollTo } from "../../layout/rows"
import { cutMiddle, printable } from "../../names"
import { hidesLibrary, isDark, isUnfolded, metric, page, profile, selectGroup, selectKernel, selectRow, selectedKernel, selectedRow, selectedRows, selection } from "../../state"
import { grouped, percent, plainName, text } from "../../units"
import { useSize, useWheel } from "../widgets/canvas_hooks"
import { shortName } from "../widgets/facts"
import { type Pointer, hover, leave } from "../widgets/hover"
import "./flame.css"
import { FlameCard, changeText } from "./card"
import { FlameDetails } from "./details"
import { type Flames, bothOf, boxOf, change, changeShare, flames, focus, isEverything, isHit, isInMiddle, isMatch, leaveSandwich, selectedBox, selectedContext, show, showSandwich, state, titleOf, zoomBack, zoomTo, zoomed } from "./flame_state"
import { FlameMap } from "./map"
import { FlameTable, isTableShown } from "./table"
import { FlameTools } from "./tools"
import type { View } from "../widgets/view"

const LEAST = 1.5 // pixels
let current: { drawn: Flames; layout: FlameLayout } | null = null

export const flame: View = {
  id: "flame",
  title: "Flame",
  key: "2",
  isPresent: (_page, shown) => shown.metrics.some((name) => shown.metricKind(name) !== "property"),
  Component: Flame,
  Details: FlameDetails,
  onKey,
  keys: [
    ["← ↑ → ↓", "go to a neighbour, the parent, the widest child"],
    ["Enter", "zoom to the selected box; double click does too"],
    ["Esc", "zoom back"],
    ["wheel", "zoom around the pointer; drag to move; with shift: levels up and down"],
    ["s", "sandwich of what is selected: callers above, below what it called; again: from the root down"],
    ["c", "every kernel with its callers, or from the root down"],
    ["t", "the boxes in view as a table"],
    ["u", "numbered siblings one by one, or as one"],
    ["l", "hide library frames, or show them"],
    ["v", "colours of the difference between two profiles, or of kinds"],
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
      <FlameMap of={drawn} window={state.value.window ?? [0, 1]} onLook={look} />
    </div>
  )
}

function Graph({ of }: { of: Flames }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(place)
  const pointer = useRef<Pointer | null>(null)
  const [pointed, setPointed] = useState(-1)
  const zoom = zoomed.value
  const part = state.value.window
  const drag = useRef<{ x: number; y: number; top: number; part: Range | null; isClick: boolean } | null>(null)
  const layout = useMemo(
    () => layoutFlame(of.tree, { zoom, window: part, width: size.width, least: LEAST }),
    [of, zoom, part, size.width],
  )
  const level = levelHeight(layout.height, size.height)
  current = { drawn: of, layout }
  const find = (at: Pointer): number => {
    const box = place.current
    if (box === null) return -1
    const edge = box.getBoundingClientRect()
    const [x, y] = [at.clientX - edge.left, at.clientY - edge.top]
    const isInside = x >= 0 && y >= 0 && x < box.clientWidth && y < box.clientHeight
    return isInside ? placeAt(layout, x, Math.floor((y + box.scrollTop) / level)) : -1
  }
  // The card is of what is under the pointer in this layout, whatever moved: the pointer, a zoom, a scroll, the window.
  const point = (): void => {
    const at = pointer.current === null ? -1 : find(pointer.current)
    setPointed(at)
    if (at < 0 || pointer.current === null) leave()
    else hover(pointer.current, <FlameCard of={of} layout={layout} place={at} zoom={zoom} seen={of.tree.width(zoom)} />)
  }
  const paint = (): void => paintInto(place.current, canvas.current, of, layout, level, pointed)

  useLayoutEffect(paint)
  useLayoutEffect(() => centre(place.current, of, layout.base + of.tree.depth(zoom), level), [of, zoom])
  useLayoutEffect(() => {
    const at = focusPlace(of, layout)
    if (at >= 0) reveal(place.current, layout.levels[at] as number, level)
  }, [selection.value, focus.value])
  useLayoutEffect(point, [layout, level, size.height])
  useLayoutEffect(() => leave, [])
  useWheel(place, (event) => {
    if (event.shiftKey && event.deltaX === 0) return false // levels up and down
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1
    const speed = event.ctrlKey ? 1.01 : 1.0018 // with ctrl: two fingers
    const at = (event.clientX - (place.current?.getBoundingClientRect().left ?? 0)) / Math.max(size.width, 1)
    const factor = speed ** Math.min(600, Math.max(-600, event.deltaY * lines))
    look(isSideways ? moveWindow(part, event.deltaX / Math.max(size.width, 1)) : zoomWindow(part, factor, at))
    return true
  })
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0 || place.current === null) return
    drag.current = { x: event.clientX, y: event.clientY, top: place.current.scrollTop, part, isClick: true }
  }
  const onMove = (event: PointerEvent): void => {
    const [from, box] = [drag.current, place.current]
    if (from === null || box === null || event.buttons !== 1) return
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y]
    if (from.isClick && Math.abs(dx) + Math.abs(dy) < 4) return
    if (from.isClick) box.setPointerCapture(event.pointerId)
    from.isClick = false
    box.scrollTop = from.top - dy
    look(moveWindow(from.part, -dx / Math.max(size.width, 1)))
  }

  return (
    <>
      <div
        class="flame-scroll"
        ref={place}
        onScroll={() => {
          paint()
          point()
        }}
        onMouseMove={(event) => {
          pointer.current = event
          point()
        }}
        onMouseLeave={() => {
          pointer.current = null
          point()
        }}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onClick={(event) => {
          if (drag.current?.isClick !== false) pick(of, layout, find(event))
          drag.current = null
        }}
        onDblClick={(event) => open(layout, find(event), size.width)}
      >
        <canvas ref={canvas} role="img" aria-label={`flame graph of ${plainName(metric.value)}`} />
        <div class="flame-space" style={{ height: `${layout.height * level}px` }} />
      </div>
      {isTableShown.value ? (
        <FlameTable
          of={of}
          layout={layout}
          isSelected={(box) => !isEverything(of, box) && isSelected(of, of.tree.row(box), box)}
          onPick={(box) => pick(of, layout, placeOf(layout, of.tree, box))}
        />
      ) : null}
    </>
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
  const whole = tree.width(zoomed.value)
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
    nameOf: (each) => nameOf(of, each),
    hueOf: (each) => hueOfKind(shown.kind(tree.row(each))),
    changeOf: (each) => {
      const both = bothOf(of, each)
      return both === null ? null : changeShare(both)
    },
    // What is above the zoom is more than what is seen: no share of it.
    shareOf: (each) => changeText(bothOf(of, each)) ?? (tree.width(each) > whole * (1 + 1e-9) ? "" : text(percent(tree.width(each) / whole))),
    isSelected: (each) => !isEverything(of, each) && isSelected(of, tree.row(each), each),
    isDim: (each) => !isMatch(of, each),
    isHit: (at) => isHit(of, boxesAt(layout, tree, at)),
    hover,
    focus: focused,
  })
}

/** What stands in a box. */
function nameOf(of: Flames, box: number): string {
  if (isEverything(of, box)) return "everything"
  const title = titleOf(of, box)
  return title === null ? shortName(of.of, of.tree.row(box)) : `${printable(title)} × ${grouped(of.tree.rows(box).length)}`
}

function isSelected(of: Flames, row: number, box: number): boolean {
  if (of.sandwich === null && selectedBox(of) === box) return true
  if (selection.value?.kind === "group") return of.folds === null && Array.from(selectedRows.value ?? []).includes(row)
  if (of.sandwich !== null && !isNamed(of, box)) return row === selectedRow.value
  return row === selectedRow.value || (selectedKernel.value !== null && of.of.isWork(row) && of.of.rawName(row) === selectedKernel.value)
}

/** Whether a box of a sandwich stands for a name, whoever called it. */
function isNamed({ tree, sandwich }: Flames, box: number): boolean {
  return sandwich !== null && tree.depth(box) === (sandwich.middle === null ? -1 : 0)
}

/** The place that arrows go from. */
function focusPlace(of: Flames, layout: FlameLayout): number {
  const box = of.sandwich === null ? selectedBox(of) : focus.value
  return box === null ? -1 : placeOf(layout, of.tree, box)
}

function pick(of: Flames, layout: FlameLayout, place: number): void {
  if (place < 0 || layout.hidden[place] !== 0) return
  const box = layout.boxes[place] as number
  const row = of.tree.row(box)
  focus.value = box
  if (isNamed(of, box) && of.of.isWork(row)) selectKernel(of.of.rawName(row))
  else if (of.folds !== null) selectGroup(of.folds, of.sandwich !== null ? boxOf(of, row) : box)
  else selectRow(row)
}

function open(layout: FlameLayout, place: number, width: number): void {
  if (place < 0) return
  if (layout.hidden[place] === 0) return zoomTo(layout.boxes[place] as number)
  const [from, to] = state.value.window ?? [0, 1]
  const [left, size] = [(layout.lefts[place] as number) / width, (layout.widths[place] as number) / width]
  change({ window: zoomWindow([from, to], size, left / (1 - size)) })
}

/** Show a part of the width; no step of the back button, as there are many on the way. */
function look(window: Range | null): void {
  change({ window }, false)
}

/** Scroll so that what is zoomed to is on top, and the middle of a sandwich in the middle. */
function centre(box: HTMLDivElement | null, of: Flames, at: number, level: number): void {
  if (box === null) return
  box.scrollTop = Math.max(0, at * level - (of.sandwich === null ? 4 * level : box.clientHeight / 2))
}

/** Scroll no further than it takes to see a level. */
function reveal(box: HTMLDivElement | null, at: number, level: number): void {
  if (box !== null) box.scrollTop = scrollTo(at, level, box.scrollTop, box.clientHeight)
}

const STEPS: Record<string, Step> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }

function onKey(event: KeyboardEvent): boolean {
  if (current === null || profile.value === null) return false
  const { drawn, layout } = current
  if (event.key === "v" && page.value !== null && page.value.diff !== null && drawn.sandwich === null) {
    change({ isDiff: !state.value.isDiff })
    return true
  }
  if (event.key === "c") {
    if (drawn.sandwich === null) showSandwich(0)
    else leaveSandwich()
    return true
  }
  if (event.key === "s") {
    const row = selectedContext(drawn)
    if (row === 0 ? drawn.sandwich !== null : isInMiddle(drawn, row)) leaveSandwich()
    else showSandwich(row)
    return true
  }
  if (event.key === "t") {
    isTableShown.value = !isTableShown.value
    return true
  }
  if (event.key === "u" && profile.value.parts.folds !== null) {
    show({ isUnfolded: !isUnfolded.value })
    return true
  }
  if (event.key === "l" && profile.value.parts.library !== null) {
    show({ hidesLibrary: !hidesLibrary.value })
    return true
  }
  if (event.key === "Escape") return zoomBack()
  const at = focusPlace(drawn, layout)
  if (event.key === "Enter") {
    if (at >= 0) zoomTo(layout.boxes[at] as number)
    else if (drawn.sandwich === null && selectedBox(drawn) !== null) zoomTo(selectedBox(drawn) ?? 0) // too narrow to be seen
    return true
  }
  const step = STEPS[event.key]
  if (step === undefined) return false
  pick(drawn, layout, at < 0 ? placeOf(layout, drawn.tree, 0) : neighbour(layout, at, step))
  return true
}
