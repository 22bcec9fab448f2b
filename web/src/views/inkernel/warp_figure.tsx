/** The warps of one CTA with the regions that they went through, and what colours mean. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { inks, prepared } from "../../draw/canvas"
import { colorOfRegion } from "../../draw/colors"
import { LEFT, drawWarps, heightOf, rowAt } from "../../draw/warps"
import { type Range, moved, zoomed } from "../../layout/axis"
import { type RegionBox, type Warps, layoutWarps, regionAt } from "../../layout/inkernel/warps"
import { cutMiddle, printable } from "../../names"
import type { InKernelPart, Launch, RegionRow } from "../../schema"
import { isDark, profile } from "../../state"
import { time } from "../../units"
import { useSize, useWheel } from "../widgets/canvas_hooks"
import { COUNT, TIME, type TableColumn, numberColumn } from "../widgets/columns"
import { Fact } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { Twin } from "../widgets/twin"
import { useAddressRange } from "./address_range"
import { chooseHere, here } from "./inkernel_state"

interface WarpProps {
  found: InKernelPart
  launch: Launch
  cta: number
  title: string
  regions: readonly RegionRow[]
}

/** The number of a region's colour: its place among the regions of the kernel, else a further one. */
function colorNumber(regions: readonly RegionRow[], name: string, otherwise: number): number {
  const at = regions.findIndex((each) => each.name === name)
  return at < 0 ? regions.length + otherwise : at
}

export function WarpFigure({ found, launch, cta, title, regions }: WarpProps): VNode {
  const shown = profile.value
  const warps = useMemo(() => {
    const ids = launch.regions
    if (shown === null || ids === null) return null
    const read = shown.column
    return layoutWarps(
      { first: read(ids.first), warp: read(ids.warp), line: read(ids.line), name: read(ids.name), start: read(ids.start), duration: read(ids.duration) },
      cta,
    )
  }, [shown, launch, cta])
  return (
    <>
      <div class="figure-head">
        <strong>{title}</strong>
        <span class="gap" />
        <button class="link" onClick={() => chooseHere({ cta: null })}>close</button>
      </div>
      {warps === null || warps.rows === 0 ? (
        <p class="quiet">no regions of its warps were recorded, or the page holds none</p>
      ) : (
        <>
          <Bands warps={warps} names={found.launches.region_names} regions={regions} />
          <Twin label="regions of its warps" rows={() => warps.boxes} columns={(rows) => tableOf(rows, warps, found.launches.region_names)} idOf={(box) => String(box.at)} sort="start" />
        </>
      )}
    </>
  )
}

function tableOf(rows: readonly RegionBox[], warps: Warps, names: readonly string[]): TableColumn<RegionBox>[] {
  const warpOf = (box: RegionBox): number | undefined => warps.bands.find((band) => box.row >= band.row && box.row < band.row + band.rows)?.warp
  return [
    { id: "region", title: "region", isText: true, name: (box) => printable(names[box.name] ?? ""), key: (box) => names[box.name] ?? "" },
    numberColumn(rows, { id: "warp", title: "warp", width: 70, as: COUNT, of: warpOf }),
    numberColumn(rows, { id: "start", title: "start", width: 110, as: TIME, of: (box) => box.start }),
    numberColumn(rows, { id: "duration", title: "duration", width: 110, as: TIME, of: (box) => box.end - box.start }),
  ]
}

function Bands({ warps, names, regions }: { warps: ReturnType<typeof layoutWarps>; names: readonly string[]; regions: readonly RegionRow[] }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(place)
  const whole: Range = [warps.from, Math.max(warps.to, warps.from + 1)]
  const [range, setRange] = useAddressRange(whole, here.value.warps, (seen) => chooseHere({ warps: seen }))
  const [pointed, setPointed] = useState<RegionBox | null>(null)
  const height = heightOf(warps)
  const colors = useMemo(() => names.map((name, at) => colorNumber(regions, name, at)), [names, regions])
  const colorAt = (name: number): number => colors[name] ?? 0
  useLayoutEffect(() => {
    if (canvas.current === null || width <= LEFT) return
    const context = prepared(canvas.current, width, height)
    if (context === null) return
    drawWarps(context, { warps, names, colorAt, range, zero: whole[0], width, height, pointed, dark: isDark.value, inks: inks() })
  })
  const nsPerPixel = (range[1] - range[0]) / Math.max(width - LEFT, 1)
  const timeAt = (event: MouseEvent): number => range[0] + (event.offsetX - LEFT) * nsPerPixel
  useWheel(canvas, (event) => {
    const isWhole = range[0] <= whole[0] && range[1] >= whole[1]
    if (event.deltaY > 0 && isWhole) return false
    setRange(zoomed(range, Math.exp(event.deltaY * 0.0015), timeAt(event), whole))
    return true
  })
  const drag = useRef<{ x: number; range: Range } | null>(null)
  const used = [...new Set(warps.boxes.map((box) => box.name))]
  return (
    <>
      <div class="canvas-box" ref={place}>
        <canvas
          class="warp-canvas"
          ref={canvas}
          role="img"
          aria-label={`${warps.bands.length} warps`}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, range }
            event.currentTarget.setPointerCapture(event.pointerId)
          }}
          onPointerMove={(event) => {
            if (drag.current !== null) {
              setRange(moved(drag.current.range, -(event.clientX - drag.current.x) * nsPerPixel, whole))
              return
            }
            const box = regionAt(warps, rowAt(warps, event.offsetY), timeAt(event), 2 * nsPerPixel)
            setPointed(box)
            hover(event, box === null ? null : <Card box={box} name={names[box.name] ?? ""} regions={regions} zero={whole[0]} />)
          }}
          onPointerUp={() => (drag.current = null)}
          onPointerLeave={() => {
            setPointed(null)
            leave()
          }}
        />
      </div>
      <div class="region-legend">
        {used.map((name) => (
          <span key={name}>
            <span class="swatch" style={{ background: colorOfRegion(colorAt(name), isDark.value) }} />
            {cutMiddle(names[name] ?? "", 40)}
          </span>
        ))}
      </div>
    </>
  )
}

function Card({ box, name, regions, zero }: { box: RegionBox; name: string; regions: readonly RegionRow[]; zero: number }): VNode {
  const about = regions.find((each) => each.name === name)
  return (
    <>
      <strong>{cutMiddle(name, 120)}</strong>
      {about === undefined ? null : <p class="quiet">{about.kind}{about.line === 0 ? "" : `, line ${about.line}`}</p>}
      <dl>
        <Fact name="took" of={time(box.end - box.start)} />
        {about?.mean_ns == null ? null : <Fact name="on average" of={time(about.mean_ns)} />}
        <Fact name="began after the CTA by" of={time(box.start - zero)} />
      </dl>
    </>
  )
}
