/** The CTAs of one launch: a row for each multiprocessor, boxes in time; a click shows a CTA's warps. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks, prepared } from "../../draw/canvas"
import { type CtaPicture, LEFT, TOP, drawCtas, rowGap } from "../../draw/ctas"
import { type Range, moved, zoomed } from "../../layout/axis"
import { type Direction, type PackedCtas, ctaAt, neighbourOf, packCtas } from "../../layout/inkernel/ctas"
import type { InKernelPart, Launch, RegionRow } from "../../schema"
import { isDark, profile } from "../../state"
import { count, text, time } from "../../units"
import { useSize, useWheel } from "../widgets/canvas_hooks"
import { COUNT, TIME, type TableColumn, numberColumn } from "../widgets/columns"
import { Choice, Fact } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { Twin } from "../widgets/twin"
import { useAddressRange } from "./address_range"
import { CtaWords } from "./cta_summary"
import { chooseHere, here } from "./inkernel_state"
import { WarpFigure } from "./warp_figure"

const MOST_ROW = 26 // pixels
const LEAST_ROW = 2
const MOST_HEIGHT = 460

/** What a key does while a picture is shown. */
export const figureKey: { current: ((key: string) => boolean) | null } = { current: null }

interface FigureProps {
  found: InKernelPart
  launch: Launch
  regions: readonly RegionRow[]
}

interface Columns {
  number: ArrayLike<number>
  sm: ArrayLike<number>
  start: ArrayLike<number>
  duration: ArrayLike<number>
}

interface Look {
  /** Height of a multiprocessor; 0: all fit. */
  rowHeight: number
  scroll: number
}

export function CtaFigure({ found, launch, regions }: FigureProps): VNode | null {
  const shown = profile.value
  const columns = useMemo<Columns | null>(() => {
    if (shown === null) return null
    const read = shown.column
    return { number: read(launch.number), sm: read(launch.sm), start: read(launch.start), duration: read(launch.duration) }
  }, [shown, launch])
  const packed = useMemo(() => (columns === null ? null : packCtas(columns.sm, columns.start, columns.duration)), [columns])
  if (columns === null || packed === null) return null
  const wanted = here.value.cta
  const chosen = wanted !== null && wanted < columns.sm.length ? wanted : -1
  return (
    <section class="figure-section">
      <Boxes launch={launch} columns={columns} packed={packed} chosen={chosen} />
      <Twin
        label="CTAs"
        rows={() => [...packed.wave.keys()]}
        columns={(rows) => tableOf(rows, columns, packed)}
        idOf={String}
        isSelected={(cta) => cta === chosen}
        onSelect={(cta) => chooseHere({ cta })}
        sort="start"
      />
      {chosen < 0 ? (
        <p class="quiet">{launch.regions === null ? "no regions of warps were recorded" : "click a CTA to see its warps and regions"}</p>
      ) : (
        <WarpFigure
          key={chosen}
          found={found}
          launch={launch}
          cta={chosen}
          title={titleOf(columns, packed, chosen)}
          regions={regions}
        />
      )}
    </section>
  )
}

function tableOf(rows: readonly number[], columns: Columns, packed: PackedCtas): TableColumn<number>[] {
  return [
    { id: "cta", title: "CTA", isText: true, name: (cta) => `CTA ${columns.number[cta] ?? 0}`, key: (cta) => columns.number[cta] ?? 0 },
    numberColumn(rows, { id: "sm", title: "SM", width: 70, as: COUNT, of: (cta) => columns.sm[cta] }),
    numberColumn(rows, { id: "wave", title: "wave", width: 70, as: COUNT, of: (cta) => (packed.wave[cta] ?? 0) + 1 }),
    numberColumn(rows, { id: "start", title: "start", width: 110, as: TIME, of: (cta) => columns.start[cta] }),
    numberColumn(rows, { id: "duration", title: "duration", width: 110, as: TIME, of: (cta) => columns.duration[cta] }),
  ]
}

function titleOf(columns: Columns, packed: PackedCtas, cta: number): string {
  const [start, length] = [columns.start[cta] as number, columns.duration[cta] as number]
  return `CTA ${columns.number[cta] ?? 0} on SM ${columns.sm[cta] ?? 0}, ${text(time(length))} from ${text(time(start))} on, wave ${(packed.wave[cta] ?? 0) + 1}`
}

function extremesOf(values: ArrayLike<number>): Range {
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  for (let at = 0; at < values.length; at++) {
    least = Math.min(least, values[at] as number)
    most = Math.max(most, values[at] as number)
  }
  return [least, most]
}

function Boxes({ launch, columns, packed, chosen }: { launch: Launch; columns: Columns; packed: PackedCtas; chosen: number }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(place)
  const end = Math.max(launch.duration_ns, launch.last_ns, 1)
  const whole: Range = [0, end]
  const [range, setRange] = useAddressRange(whole, here.value.range, (seen) => chooseHere({ range: seen }))
  const [look, setLook] = useState<Look>({ rowHeight: 0, scroll: 0 })
  const [color, setColor] = useState<"wave" | "duration">("wave")
  const [pointed, setPointed] = useState(-1)
  const extremes = useMemo(() => extremesOf(columns.duration), [columns])
  const rows = packed.sms.length
  const room = Math.min(MOST_HEIGHT, Math.max(220, window.innerHeight * 0.46)) - TOP
  const fit = Math.min(MOST_ROW * Math.min(packed.slots, 4), Math.max(LEAST_ROW, room / rows))
  const rowHeight = look.rowHeight || fit
  const height = TOP + Math.min(room, rows * rowHeight) + 4
  const mostScroll = Math.max(0, rows * rowHeight - (height - TOP - 4))
  const scroll = Math.min(look.scroll, mostScroll)
  const picture: CtaPicture = {
    packed,
    numbers: columns.number,
    range,
    width,
    height,
    rowHeight,
    scroll,
    tail: launch.ctas.tail_ns === null || rows < 2 ? null : [launch.last_ns - launch.ctas.tail_ns, launch.last_ns],
    kernel: launch.is_timed ? [0, launch.duration_ns] : null,
    color,
    extremes,
    chosen,
    pointed,
    dark: isDark.value,
    inks: inks(),
  }
  useLayoutEffect(() => {
    if (canvas.current === null || width <= LEFT) return
    const context = prepared(canvas.current, width, height)
    if (context !== null) drawCtas(context, picture)
  })

  const nsPerPixel = (range[1] - range[0]) / Math.max(width - LEFT, 1)
  const timeAt = (event: MouseEvent): number => range[0] + (event.offsetX - LEFT) * nsPerPixel
  const find = (event: MouseEvent): number => {
    const y = event.offsetY - TOP + scroll
    if (event.offsetX < LEFT || event.offsetY < TOP) return -1
    const row = Math.floor(y / rowHeight)
    const slot = Math.min(packed.slots - 1, Math.floor((y - row * rowHeight) / ((rowHeight - rowGap(rowHeight)) / packed.slots)))
    return ctaAt(packed, { row, slot, time: timeAt(event), slack: 3 * nsPerPixel })
  }
  const zoomBy = (factor: number, around: number): void => setRange(zoomed(range, factor, around, whole))
  const taller = (factor: number): void => {
    const next = Math.min(60, rowHeight * factor)
    setLook({ ...look, rowHeight: next <= fit ? 0 : next, scroll: next <= fit ? 0 : (scroll * next) / rowHeight })
  }
  const onKey = (key: string): boolean => {
    const middle = (range[0] + range[1]) / 2
    const step = (range[1] - range[0]) / 5
    if (key === "w") zoomBy(0.6, middle)
    else if (key === "s") zoomBy(1 / 0.6, middle)
    else if (key === "a") setRange(moved(range, -step, whole))
    else if (key === "d") setRange(moved(range, step, whole))
    else if (chosen >= 0 && key.startsWith("Arrow")) {
      const next = neighbourOf(packed, chosen, key.slice(5) as Direction)
      if (next >= 0) chooseHere({ cta: next })
    } else if (key === "+" || key === "=") taller(1.5)
    else if (key === "-") taller(1 / 1.5)
    else if (key === "0") {
      setRange(whole)
      setLook({ rowHeight: 0, scroll: 0 })
    } else return false
    return true
  }
  useLayoutEffect(() => {
    figureKey.current = onKey
    return () => {
      figureKey.current = null
    }
  })
  useWheel(canvas, (event) => {
    if (event.shiftKey) {
      setLook({ ...look, scroll: Math.min(mostScroll, Math.max(0, scroll + (event.deltaY || event.deltaX))) })
      return mostScroll > 0
    }
    const isWhole = range[0] <= whole[0] && range[1] >= whole[1]
    if (event.deltaY > 0 && isWhole) return false // the page scrolls on
    zoomBy(Math.exp(event.deltaY * 0.0015), timeAt(event))
    return true
  })
  const drag = useRef<{ x: number; y: number; range: Range; scroll: number; isMoved: boolean } | null>(null)
  const isZoomed = range[0] > whole[0] || range[1] < whole[1] || look.rowHeight > 0
  return (
    <>
      <div class="figure-head">
        <CtaWords of={launch.ctas} />
        <span class="gap" />
        <Choice
          label="colour of boxes"
          options={[
            { id: "wave", title: "Waves", hint: "CTAs that follow each other in two shades" },
            { id: "duration", title: "Duration", hint: "the longer a CTA ran, the stronger" },
          ]}
          value={color}
          onPick={(id) => setColor(id === "duration" ? id : "wave")}
        />
        <span class="choice" role="group" aria-label="height of rows">
          <button title="lower rows (-)" aria-label="lower rows" disabled={look.rowHeight === 0} onClick={() => taller(1 / 1.5)}>−</button>
          <button title="taller rows (+)" aria-label="taller rows" onClick={() => taller(1.5)}>+</button>
        </span>
        <button class="link" disabled={!isZoomed} title="all of the launch (0)" onClick={() => onKey("0")}>all</button>
      </div>
      <div class="canvas-box" ref={place}>
        <canvas
          class="cta-canvas"
          ref={canvas}
          role="img"
          aria-label={`${count(columns.sm.length).whole} CTAs on ${rows} multiprocessors`}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, y: event.clientY, range, scroll, isMoved: false }
            event.currentTarget.setPointerCapture(event.pointerId)
          }}
          onPointerMove={(event) => {
            const from = drag.current
            if (from !== null) {
              const [dx, dy] = [event.clientX - from.x, event.clientY - from.y]
              from.isMoved ||= Math.abs(dx) + Math.abs(dy) > 4
              if (!from.isMoved) return
              leave()
              setRange(moved(from.range, -dx * nsPerPixel, whole))
              setLook({ ...look, scroll: Math.min(mostScroll, Math.max(0, from.scroll - dy)) })
              return
            }
            const at = find(event)
            setPointed(at)
            hover(event, at < 0 ? null : <Card columns={columns} packed={packed} at={at} />)
          }}
          onPointerUp={(event) => {
            const isClick = drag.current !== null && !drag.current.isMoved
            drag.current = null
            if (!isClick) return
            const at = find(event)
            chooseHere({ cta: at < 0 || at === chosen ? null : at }, true)
          }}
          onPointerLeave={() => {
            setPointed(-1)
            leave()
          }}
        />
      </div>
    </>
  )
}

function Card({ columns, packed, at }: { columns: Columns; packed: PackedCtas; at: number }): VNode {
  const [start, length] = [columns.start[at] as number, columns.duration[at] as number]
  return (
    <>
      <strong>CTA {columns.number[at]}</strong>
      <p class="quiet">SM {columns.sm[at]}, place {(packed.slot[at] ?? 0) + 1} of {packed.slots}, wave {(packed.wave[at] ?? 0) + 1}</p>
      <dl>
        <Fact name="ran for" of={time(length)} />
        <Fact name="began after the launch by" of={time(start)} />
        <Fact name="ended at" of={time(start + length)} />
      </dl>
    </>
  )
}
