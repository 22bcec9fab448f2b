/** The moving part of the timeline: canvases, pointer, wheel and keys; draws one frame at a time.
 *
 * While somebody zooms nothing of the page is rendered but these canvases. When the window comes to
 * rest, `onRest` is told, so that the address and the sums of the legend follow.
 */
import { prepared } from "../../draw/canvas"
import { drawTimeline } from "../../draw/timeline/rows"
import { AXIS_HEIGHT, MAP_HEIGHT, drawAxis, drawMap } from "../../draw/timeline/map"
import type { Scene } from "../../draw/timeline/scene"
import type { Range } from "../../layout/axis"
import type { Window } from "../../layout/timeline/nesting"
import type { Chart, Hit } from "../../layout/timeline/chart"
import { type Rows, visibleRows } from "../../layout/timeline/rows"
import type { Pointer } from "../widgets/hover"
import { axisOf, clampRange, moveRange, rangeAround, timeAt, wholeRange, xOf, zoomRange } from "../../layout/timeline/window"

export const FRAME = "timeline frame" // the name of a frame's measure, for who asks the browser
const REST_MS = 120
const MOVE_MS = 140
const REACH = 3 // pixels beside a narrow span that still mean it
const MOST_MEASURES = 2000

/** What a frame needs besides the window; the view hands it over whenever something changes. */
export type Look = Omit<Scene, "window" | "ticks" | "rows" | "scrollTop" | "height"> & { all: Rows }

export interface StageEvents {
  onRest(range: Range): void
  /** What is under the pointer now; the pointer or what is below it moved. */
  onHover(hit: Hit | null, at: Pointer): void
  onPick(hit: Hit | null): void
  /** A stretch of time was dragged over. */
  onStretch(range: Range): void
}

export class Stage {
  range: Range
  #pointer: Pointer | null = null // null where it is elsewhere
  readonly #extent: Range
  readonly #abort = new AbortController()
  readonly #sizes: ResizeObserver
  #look: Look | null = null
  #frame = 0
  #rest = 0
  #measures = 0
  #mapIsStale = true
  #width = 1
  #height = 1
  #moving: { from: Range; to: Range; since: number } | null = null
  #drag: { x: number; y: number; scrollTop: number; range: Range; isClick: boolean; isStretch: boolean } | null = null
  /** Whether dragging marks a stretch of time; with the shift key it does anyway. */
  marksStretches = false

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly axis: HTMLCanvasElement,
    readonly map: HTMLCanvasElement,
    readonly frame: HTMLElement,
    readonly scroller: HTMLElement,
    readonly chart: Chart,
    readonly events: StageEvents,
    range: Range | null,
  ) {
    this.#extent = chart.timeline.part.extent_ns
    this.range = range ?? wholeRange(this.#extent)
    this.#sizes = new ResizeObserver(() => this.#resize())
    this.#sizes.observe(scroller)
    const { signal } = this.#abort
    canvas.addEventListener("wheel", (event) => this.#onWheel(event), { signal, passive: false })
    canvas.addEventListener("pointerdown", (event) => this.#onDown(event), { signal })
    canvas.addEventListener("pointermove", (event) => this.#onMove(event), { signal })
    canvas.addEventListener("pointerup", (event) => this.#onUp(event), { signal })
    canvas.addEventListener("pointerleave", () => this.#leave(), { signal })
    canvas.addEventListener("dblclick", (event) => this.#onDouble(event), { signal })
    scroller.addEventListener("scroll", () => this.redraw(), { signal, passive: true })
    for (const kind of ["pointerdown", "pointermove"] as const) {
      map.addEventListener(kind, (event) => this.#onMap(event), { signal })
    }
    this.#resize()
  }

  close(): void {
    this.#abort.abort()
    this.#sizes.disconnect()
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#rest)
    this.#leave()
  }

  show(look: Look): void {
    if (look.dark !== this.#look?.dark) this.#mapIsStale = true
    this.#look = look
    this.redraw()
  }

  /** Go to a range: at once, or in a few frames so that the eye can follow. */
  go(range: Range, smoothly: boolean): void {
    const target = clampRange(range, this.#extent)
    this.#moving = smoothly ? { from: this.range, to: target, since: performance.now() } : null
    if (!smoothly) this.range = target
    this.redraw()
    clearTimeout(this.#rest)
    this.#rest = window.setTimeout(() => this.events.onRest(target), smoothly ? MOVE_MS + REST_MS : REST_MS)
  }

  /** Where the window is going to be. */
  get target(): Range {
    return this.#moving?.to ?? this.range
  }

  /** Zoom around the pointer, or else around the middle. */
  zoom(factor: number): void {
    const { left } = this.canvas.getBoundingClientRect()
    const at = this.#pointer === null ? (this.target[0] + this.target[1]) / 2 : timeAt(this.#window, this.#pointer.clientX - left)
    this.go(zoomRange(this.target, this.#extent, factor, at), true)
  }

  move(share: number): void {
    this.go(moveRange(this.target, this.#extent, share), true)
  }

  whole(): void {
    this.go(wholeRange(this.#extent), true)
  }

  /** Bring a span into sight: its time, and the row it stands in. */
  reveal(span: number, zoomIn: boolean): void {
    const { starts, ends } = this.chart.timeline
    const [start, end] = [starts[span] as number, ends[span] as number]
    const [from, to] = this.target
    if (zoomIn) this.go(rangeAround(start, end, this.#extent), true)
    else if (start > to || end < from) this.go([start - (to - from) / 2, start + (to - from) / 2], true)
    const lane = this.chart.placeOf(span)?.lane
    const row = this.#look?.all.rows.find((each) => each.lane === lane)
    if (row === undefined) return
    const { scrollTop } = this.scroller
    if (row.top < scrollTop || row.top + 20 > scrollTop + this.#height) this.scroller.scrollTop = row.top - 30
  }

  redraw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#draw(now))
  }

  get #window(): Window {
    return { from: this.range[0], to: this.range[1], width: this.#width }
  }

  #resize(): void {
    this.#width = Math.max(1, Math.floor(this.canvas.parentElement?.clientWidth ?? 1))
    this.#height = Math.max(1, this.scroller.clientHeight)
    for (const [canvas, height] of [[this.canvas, this.#height], [this.axis, AXIS_HEIGHT], [this.map, MAP_HEIGHT]] as const) {
      prepared(canvas, this.#width, height)
    }
    this.#mapIsStale = true
    this.redraw()
  }

  #draw(now: number): void {
    this.#frame = 0
    const look = this.#look
    const [main, axis, map] = [this.canvas, this.axis, this.map].map((each) => each.getContext("2d"))
    if (look === null || !main || !axis || !map) return
    const begun = performance.now()
    this.#step(now)
    const { scrollTop } = this.scroller
    const shown = this.#window
    const ticks = axisOf(shown, this.#extent[0])
    const rows = visibleRows(look.all, scrollTop, scrollTop + this.#height)
    drawTimeline(main, { ...look, window: shown, ticks, rows, scrollTop, height: this.#height })
    drawAxis(axis, ticks, this.#width, look.colors)
    if (this.#mapIsStale) {
      const [from, to] = wholeRange(this.#extent)
      drawMap(map, this.chart, { from, to, width: this.#width }, look.dark, look.colors)
      this.#mapIsStale = false
    }
    this.#placeFrame()
    this.#measure(begun)
    if (this.#moving === null && this.#drag === null) this.#point()
  }

  /** The next position of a move: fast first, slow at its end. */
  #step(now: number): void {
    if (this.#moving === null) return
    const { from, to, since } = this.#moving
    const share = Math.min(1, Math.max(0, now - since) / MOVE_MS)
    const eased = 1 - (1 - share) ** 3
    this.range = [from[0] + (to[0] - from[0]) * eased, from[1] + (to[1] - from[1]) * eased]
    if (share < 1) this.redraw()
    else [this.range, this.#moving] = [to, null]
  }

  /** The part of the map that the window shows. */
  #placeFrame(): void {
    const [from, to] = wholeRange(this.#extent)
    const whole = { from, to, width: this.#width }
    const left = Math.max(0, xOf(whole, this.range[0]))
    const right = Math.min(this.#width, xOf(whole, this.range[1]))
    this.frame.style.left = `${left}px`
    this.frame.style.width = `${Math.max(3, right - left)}px`
  }

  #measure(begun: number): void {
    if (++this.#measures % MOST_MEASURES === 0) performance.clearMeasures(FRAME)
    performance.measure(FRAME, { start: begun, end: performance.now() })
  }

  #hitAt(at: Pointer): Hit | null {
    const look = this.#look
    if (look === null) return null
    const edge = this.canvas.getBoundingClientRect()
    const [x, below] = [at.clientX - edge.left, at.clientY - edge.top]
    if (x < 0 || below < 0 || x >= this.#width || below >= this.#height) return null
    const y = below + this.scroller.scrollTop
    const [row] = visibleRows(look.all, y, y + 1)
    const scale = (this.range[1] - this.range[0]) / this.#width
    return row === undefined ? null : this.chart.hit(row, y, timeAt(this.#window, x), REACH * scale)
  }

  /** Tell what is under the pointer, whatever moved: it, the window of time, the lanes, the page. */
  #point(): void {
    if (this.#pointer !== null) this.events.onHover(this.#hitAt(this.#pointer), this.#pointer)
  }

  #leave(): void {
    if (this.#pointer !== null) this.events.onHover(null, this.#pointer)
    this.#pointer = null
  }

  #onWheel(event: WheelEvent): void {
    if (event.shiftKey && event.deltaX === 0) {
      this.scroller.scrollTop += event.deltaY // lanes up and down
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.go(moveRange(this.range, this.#extent, event.deltaX / this.#width), false)
    } else {
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1
      const factor = 1.0018 ** Math.min(600, Math.max(-600, event.deltaY * lines))
      this.go(zoomRange(this.range, this.#extent, factor, timeAt(this.#window, event.offsetX)), false)
    }
    event.preventDefault()
  }

  #onDown(event: PointerEvent): void {
    if (event.button !== 0) return
    this.canvas.setPointerCapture(event.pointerId)
    const { scrollTop } = this.scroller
    const isStretch = event.shiftKey || this.marksStretches
    this.#drag = { x: event.clientX, y: event.clientY, scrollTop, range: this.range, isClick: true, isStretch }
    this.#moving = null
  }

  #onMove(event: PointerEvent): void {
    const drag = this.#drag
    this.#pointer = event
    if (drag === null) return this.#point()
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y]
    if (drag.isClick && Math.abs(dx) + Math.abs(dy) < 4) return
    drag.isClick = false
    this.events.onHover(null, event)
    if (drag.isStretch) {
      const { left } = this.canvas.getBoundingClientRect()
      const [from, to] = [drag.x, event.clientX].map((x) => timeAt(this.#window, Math.min(Math.max(x - left, 0), this.#width))) as [number, number]
      return this.events.onStretch(from < to ? [from, to] : [to, from])
    }
    this.canvas.classList.add("dragged")
    this.scroller.scrollTop = drag.scrollTop - dy
    this.go(moveRange(drag.range, this.#extent, -dx / this.#width), false)
  }

  #onUp(event: PointerEvent): void {
    const drag = this.#drag
    this.#drag = null
    this.canvas.classList.remove("dragged")
    if (drag?.isClick === true) this.events.onPick(this.#hitAt(event))
  }

  #onDouble(event: MouseEvent): void {
    const hit = this.#hitAt(event)
    if (hit?.kind === "span") this.reveal(hit.span, true)
  }

  /** A press on the map goes there; dragging takes the window along. */
  #onMap(event: PointerEvent): void {
    if (event.buttons !== 1) return
    if (event.type === "pointerdown") this.map.setPointerCapture(event.pointerId)
    const [from, to] = wholeRange(this.#extent)
    const time = timeAt({ from, to, width: this.#width }, event.offsetX)
    const half = (this.range[1] - this.range[0]) / 2
    this.go([time - half, time + half], false)
  }
}
