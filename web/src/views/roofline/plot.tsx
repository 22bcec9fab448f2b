/** The plot of a roofline: roofs, dots, and the distance between them. */
import type { VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import { hueOfKind, strongOf } from "../../draw/colors"
import { EDGE, type Frame, type PlacedDot, type Roofline, dotAt, isShown, labelsOf, layoutRoofline } from "../../layout/roofline"
import type { Profile } from "../../model"
import { cutMiddle, shortened } from "../../names"
import type { RoofDevice, RoofDot } from "../../schema"
import { isDark, matcher, selectKernel, selectRow, selectedKernel, selectedRow } from "../../state"
import { amount, count, grouped, percent, plain, text, time } from "../../units"
import { useSize } from "../widgets/canvas_hooks"
import { Fact } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"

const MARGINS = { left: 58, right: 14, top: 18, bottom: 36 }

export function RooflinePlot({ of, device, dots }: { of: Profile; device: RoofDevice; dots: readonly RoofDot[] }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const size = useSize(place, { width: 700, height: 360 })
  const [pointed, setPointed] = useState(-1)
  const frame: Frame = { ...MARGINS, ...size }
  const plot = layoutRoofline(device, dots, frame)
  const chosen = pointed >= 0 ? pointed : dots.findIndex((dot) => isSelected(of, dot))
  const find = (event: MouseEvent): number => {
    const edge = place.current?.getBoundingClientRect()
    return edge === undefined ? -1 : dotAt(plot, event.clientX - edge.left, event.clientY - edge.top)
  }
  return (
    <div
      class="plot"
      ref={place}
      onMouseMove={(event) => {
        const dot = dots[find(event)]
        setPointed(dot === undefined ? -1 : dots.indexOf(dot))
        hover(event, dot === undefined ? null : <DotCard of={of} dot={dot} />)
      }}
      onMouseLeave={() => {
        setPointed(-1)
        leave()
      }}
      onClick={(event) => {
        const dot = dots[find(event)]
        if (dot !== undefined) select(dot)
      }}
    >
      <svg width={size.width} height={size.height} role="img" aria-label={`roofline of ${dots.length} kernels`}>
        <Axes plot={plot} frame={frame} />
        <Roofs plot={plot} device={device} frame={frame} />
        <Distance dot={plot.dots.find((each) => each.index === chosen)} />
        {plot.dots.map((each) => (
          <Mark key={each.index} of={of} dot={dots[each.index] as RoofDot} placed={each} isHovered={each.index === pointed} />
        ))}
        <g class="labels">
          {labelsOf(plot, (index) => shortened(of.shown((dots[index] as RoofDot).name), 30), frame).map((label) => (
            <text key={label.index} x={label.x} y={label.y} text-anchor={label.anchor}>
              {label.text}
            </text>
          ))}
        </g>
      </svg>
      {plot.unplaced > 0 ? <p class="quiet unplaced">{plot.unplaced} without a known rate are in the table only</p> : null}
    </div>
  )
}

function Axes({ plot, frame }: { plot: Roofline; frame: Frame }): VNode {
  const [bottom, right] = [frame.height - frame.bottom, frame.width - frame.right]
  const everyX = plot.x.ticks.length > frame.width / 60 ? 2 : 1
  return (
    <g class="axes">
      {plot.x.ticks.map((tick, at) => (
        <g key={tick}>
          <line x1={plot.x.at(tick)} x2={plot.x.at(tick)} y1={frame.top} y2={bottom} />
          {at % everyX === 0 ? <text x={plot.x.at(tick)} y={bottom + 15} text-anchor="middle">{powerText(tick, "")}</text> : null}
        </g>
      ))}
      {plot.y.ticks.map((tick) => (
        <g key={tick}>
          <line x1={frame.left} x2={right} y1={plot.y.at(tick)} y2={plot.y.at(tick)} />
          <text x={frame.left - 6} y={plot.y.at(tick) + 4} text-anchor="end">{powerText(tick, "")}</text>
        </g>
      ))}
      <text x={right} y={frame.height - 5} text-anchor="end">FLOP/byte</text>
      <text x={2} y={11}>FLOP/s</text>
      {plot.dots.some((dot) => dot.edge === "left") ? (
        <g>
          <line class="edge" x1={plot.x.at(plot.x.low) + EDGE} x2={plot.x.at(plot.x.low) + EDGE} y1={frame.top} y2={bottom} />
          <text x={frame.left} y={frame.height - 5}>bytes only</text>
        </g>
      ) : null}
    </g>
  )
}

/** A power of ten as short as can be: 100 T, 1 000, 0.01. */
function powerText(value: number, unit: string): string {
  if (value < 1) return String(Number(value.toPrecision(1)))
  return value < 1e4 ? grouped(value) : text(amount(value, unit)).replace(/\.0+/, "")
}

function Roofs({ plot, device, frame }: { plot: Roofline; device: RoofDevice; frame: Frame }): VNode {
  const { memory } = plot
  const angle = memory === null ? 0 : (Math.atan2(memory.y2 - memory.y1, memory.x2 - memory.x1) * 180) / Math.PI
  return (
    <g class="roofs">
      {plot.roofs.map((roof) =>
        isShown(roof, frame) ? (
          <g key={roof.width} class={roof.isUsed ? "used" : "unused"}>
            <line x1={roof.x1} x2={roof.x2} y1={roof.y} y2={roof.y} />
            {roof.isLabelled ? (
              <text x={roof.x2} y={roof.y - 4} text-anchor="end">
                {roof.label}  {text(amount(roof.flops, "FLOP/s"))}
              </text>
            ) : null}
          </g>
        ) : null,
      )}
      {memory === null ? null : (
        <g class="used">
          <line x1={memory.x1} y1={memory.y1} x2={memory.x2} y2={memory.y2} />
          <text transform={`translate(${(2 * memory.x1 + memory.x2) / 3} ${(2 * memory.y1 + memory.y2) / 3 - 6}) rotate(${angle})`} text-anchor="middle">
            memory {text(amount(device.bytes_per_s, "B/s"))}
          </text>
        </g>
      )}
    </g>
  )
}

/** From a dot up to the roof: how many times faster it could be. */
function Distance({ dot }: { dot: PlacedDot | undefined }): VNode | null {
  if (dot === undefined || dot.roofY === null || dot.roofY >= dot.y) return null
  return <line class="distance" x1={dot.x} x2={dot.x} y1={dot.y} y2={dot.roofY} />
}

function Mark({ of, dot, placed, isHovered }: { of: Profile; dot: RoofDot; placed: PlacedDot; isHovered: boolean }): VNode {
  const fits = matcher.value
  const isDim = fits !== null && !fits(dot.name) && !fits(of.shown(dot.name))
  const color = strongOf(hueOfKind(dot.kind), isDark.value)
  const isChosen = isSelected(of, dot)
  return (
    <circle
      cx={placed.x}
      cy={placed.y}
      r={placed.radius}
      class={`dot${isChosen ? " chosen" : ""}${isHovered ? " hovered" : ""}`}
      stroke={color}
      fill={color}
      fill-opacity={isDim ? 0.06 : placed.edge === "none" ? 0.5 : 0.12}
      stroke-opacity={isDim ? 0.2 : 1}
      stroke-dasharray={placed.edge === "none" ? undefined : "3 2"}
    />
  )
}

function DotCard({ of, dot }: { of: Profile; dot: RoofDot }): VNode {
  const isEdge = dot.intensity === null
  return (
    <div class="dot-card">
      <strong>{cutMiddle(of.whole(dot.name), 200)}</strong>
      {dot.headroom_ns === null ? (
        <p class="quiet">the roof above it is not known</p>
      ) : (
        <p>
          <strong>{text(time(dot.headroom_ns))}</strong> could be saved: at the roof it takes {text(time(dot.least_ns))} instead of {text(time(dot.time_ns))}
        </p>
      )}
      <dl>
        <Fact name="time" of={time(dot.time_ns)} />
        <Fact name="runs" of={count(dot.count)} />
        <Fact name="of peak" of={percent(dot.share_of_peak)} />
        <Fact name="arithmetic" of={amount(dot.flops_per_s, "FLOP/s")} />
        <Fact name="memory" of={amount(dot.bytes_per_s, "B/s")} />
        <Fact name="intensity" of={plain(dot.intensity, "FLOP/B")} />
      </dl>
      {isEdge ? <p class="quiet">it declares {dot.flops_per_s === null ? "bytes" : "operations"} only, so it stands on the edge</p> : null}
      {dot.remark === "" ? null : <p class="quiet">{dot.share_of_peak === null ? "" : "at least so much of the peak: "}{dot.remark}</p>}
      {dot.bound === null ? null : <p class="quiet">bound by {dot.bound === "memory" ? "memory" : "arithmetic"}</p>}
    </div>
  )
}

export function isSelected(of: Profile, dot: RoofDot): boolean {
  if (dot.kind === "k" || dot.kind === "c") return selectedKernel.value === dot.name
  return selectedRow.value !== null && of.rawName(selectedRow.value) === dot.name
}

export function select(dot: RoofDot): void {
  if (dot.kind === "k" || dot.kind === "c") selectKernel(dot.name)
  else selectRow(dot.row)
}
