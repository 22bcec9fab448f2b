/** Heat maps: which bytes of each tensor a kernel touched, and how often, in the order of addresses. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { prepared } from "../../draw/canvas"
import { colorOfHeat } from "../../draw/colors"
import { type Grid, gridOf, heatOf, lowestOf } from "../../layout/inkernel/heat"
import { cutMiddle } from "../../names"
import type { HeatColumns } from "../../schema"
import { isDark, profile } from "../../state"
import { count, memory, percent, text } from "../../units"
import { useSize } from "../widgets/canvas_hooks"
import { Fact } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"

const CELL = 9
const LEFT = 76
const MOST_ROWS = 20
const TOP = 3 // for the text before the first row

export function HeatMaps({ of }: { of: readonly HeatColumns[] }): VNode {
  return (
    <section>
      <h3>memory by address</h3>
      {of.map((heat, at) => <HeatMap key={at} of={heat} />)}
    </section>
  )
}

function HeatMap({ of }: { of: HeatColumns }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const { width } = useSize(place)
  const bins = profile.value?.column(of.bins) ?? new Uint32Array()
  const columns = Math.max(8, Math.min(128, Math.floor((width - LEFT) / CELL)))
  const grid = useMemo(() => gridOf(bins, columns, MOST_ROWS), [of, columns])
  const moved = useMemo(() => {
    const found = of.byte_bins === null ? undefined : profile.value?.column(of.byte_bins)
    return found === undefined ? null : gridOf(found, columns, MOST_ROWS).cells
  }, [of, columns])
  const cellBytes = grid.binsPerCell * of.bin_bytes
  return (
    <div class="heat" ref={place}>
      <div class="figure-head">
        <strong>{cutMiddle(of.tensor, 80)}</strong>
        <span class="quiet">
          {text(memory(of.bytes))} moved by {text(count(of.accesses))} access{of.accesses === 1 ? "" : "es"}
        </span>
        <span class="gap" />
        {grid.most > 0 ? <Scale lowest={lowestOf(grid)} most={grid.most} /> : null}
      </div>
      {grid.most === 0 ? (
        <p class="quiet note">no access was counted by address</p>
      ) : (
        <>
          {width > LEFT ? <Cells grid={grid} moved={moved} cellBytes={cellBytes} width={width} name={of.tensor} /> : null}
          <p class="quiet note">
            a square is {text(memory(cellBytes))}; {text(count(of.touched))} of {text(count(bins.length))} bins of {text(memory(of.bin_bytes))} touched (
            {text(percent(of.touched / Math.max(bins.length, 1)))})
          </p>
        </>
      )}
    </div>
  )
}

/** What colours mean: accesses, on a logarithmic scale. */
function Scale({ lowest, most }: { lowest: number; most: number }): VNode {
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => colorOfHeat(0.12 + 0.88 * share, isDark.value))
  return (
    <span class="heat-scale quiet">
      {text(count(Math.round(lowest)))} <span style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} /> {text(count(most))} accesses
    </span>
  )
}

interface CellsOf {
  grid: Grid
  /** Bytes moved to and from each cell. */
  moved: Float64Array | null
  cellBytes: number
  width: number
  name: string
}

function Cells({ grid, moved, cellBytes, width, name }: CellsOf): VNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const height = TOP + grid.rows * CELL + 2
  useLayoutEffect(() => {
    const context = canvas.current === null ? null : prepared(canvas.current, width, height)
    if (context === null) return
    const [dark, lowest] = [isDark.value, lowestOf(grid)]
    grid.cells.forEach((found, at) => {
      context.fillStyle = found === 0 ? (dark ? "#20252c" : "#f0f2f5") : colorOfHeat(heatOf(found, lowest, grid.most), dark)
      context.fillRect(LEFT + (at % grid.columns) * CELL, TOP + Math.floor(at / grid.columns) * CELL, CELL - 1, CELL - 1)
    })
    context.font = '11px system-ui, sans-serif'
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--quiet")
    context.textAlign = "right"
    context.textBaseline = "middle"
    const step = grid.rows > 1 ? 2 : 1
    for (let row = 0; row < grid.rows; row += step) {
      context.fillText(`+${text(memory(row * grid.columns * cellBytes))}`, LEFT - 6, TOP + row * CELL + CELL / 2)
    }
  })
  return (
    <canvas
      class="heat-canvas"
      ref={canvas}
      role="img"
      aria-label={`accesses to ${cutMiddle(name, 80)} by address`}
      onMouseMove={(event) => {
        const [column, row] = [Math.floor((event.offsetX - LEFT) / CELL), Math.floor((event.offsetY - TOP) / CELL)]
        const at = row * grid.columns + column
        const found = column < 0 || column >= grid.columns ? undefined : grid.cells[at]
        hover(
          event,
          found === undefined ? null : (
            <>
              <strong>+{text(memory(at * cellBytes))} to +{text(memory((at + 1) * cellBytes))}</strong>
              <dl>
                <Fact name="accesses" of={count(found)} />
                {moved === null ? null : <Fact name="moved" of={memory(moved[at])} />}
              </dl>
            </>
          ),
        )
      }}
      onMouseLeave={leave}
    />
  )
}
