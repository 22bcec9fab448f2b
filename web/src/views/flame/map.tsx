/** The whole graph in small, with the part of it that is shown; a press or drag on it goes there. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { prepared } from "../../draw/canvas"
import { fillOf, fillOfChange, hueOfKind } from "../../draw/colors"
import type { Range } from "../../layout/axis"
import { layoutFlame } from "../../layout/flame/boxes"
import { isDark } from "../../state"
import { useSize } from "../widgets/canvas_hooks"
import { type Flames, bothOf, changeShare, isEverything, zoomed } from "./flame_state"

const HEIGHT = 36
const LEVEL = 3
const MOST_LEVELS = HEIGHT / LEVEL

export function FlameMap({ of, window, onLook }: { of: Flames; window: Range; onLook(window: Range | null): void }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(place)
  const [zoom, dark] = [zoomed.value, isDark.value]
  const layout = useMemo(() => layoutFlame(of.tree, { zoom, width, least: 1 }), [of, zoom, width])
  useLayoutEffect(() => {
    const context = canvas.current === null ? null : prepared(canvas.current, width, HEIGHT)
    if (context === null) return
    const above = of.sandwich === null ? 1 : MOST_LEVELS / 2
    const top = Math.max(0, layout.base + of.tree.depth(zoom) - above)
    for (let level = top; level < Math.min(layout.height, top + MOST_LEVELS); level++) {
      for (const at of layout.byLevel[level] ?? []) {
        const box = layout.boxes[at] as number
        const hue = isEverything(of, box) || layout.hidden[at] !== 0 ? "host" : hueOfKind(of.of.kind(of.tree.row(box)))
        const both = layout.hidden[at] === 0 ? bothOf(of, box) : null
        context.fillStyle = (both === null ? fillOf(hue, level, dark) : fillOfChange(changeShare(both), dark)).fill
        context.fillRect(layout.lefts[at] as number, (level - top) * LEVEL, Math.max((layout.widths[at] as number) - 0.5, 0.5), LEVEL)
      }
    }
  })
  const go = (event: PointerEvent): void => {
    if (event.buttons !== 1 || !(width > 0)) return
    if (event.type === "pointerdown") (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    const size = window[1] - window[0]
    const edge = (event.currentTarget as HTMLElement).getBoundingClientRect().left
    const from = Math.min(Math.max((event.clientX - edge) / width - size / 2, 0), 1 - size)
    if (size < 1) onLook([from, from + size])
  }
  const frame = { left: `${100 * window[0]}%`, width: `max(3px, ${100 * (window[1] - window[0])}%)` }
  return (
    <div class="flame-map" ref={place} onPointerDown={go} onPointerMove={go}>
      <canvas ref={canvas} role="img" aria-label="the whole graph" />
      <div class="flame-frame" style={frame} />
    </div>
  )
}
