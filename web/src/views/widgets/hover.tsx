/** The card at the pointer: what is under it, in words. One for the page; it takes no clicks. */
import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import "../../style.css"

interface Shown {
  x: number
  y: number
  content: VNode
}

const shown = signal<Shown | null>(null)

/** Where the pointer is, in the window. */
export type Pointer = Pick<MouseEvent, "clientX" | "clientY">

/** Show `content` at the pointer, or nothing. */
export function hover(at: Pointer, content: VNode | null): void {
  shown.value = content === null ? null : { x: at.clientX, y: at.clientY, content }
}

export function leave(): void {
  shown.value = null
}

/** Where the card appears. */
export function Hover(): VNode | null {
  const card = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 320, height: 160 })
  useLayoutEffect(() => {
    // What was under the pointer may be gone or elsewhere by then.
    const ends = ["click", "keydown", "scroll", "wheel"]
    for (const each of ends) window.addEventListener(each, leave, { capture: true, passive: true })
    return () => {
      for (const each of ends) window.removeEventListener(each, leave, { capture: true })
      leave()
    }
  }, [])
  useLayoutEffect(() => {
    const box = card.current
    if (box === null) return
    const { offsetWidth: width, offsetHeight: height } = box
    if (width !== size.width || height !== size.height) setSize({ width, height })
  })
  if (shown.value === null) return null
  const { x, y, content } = shown.value
  const left = Math.max(4, Math.min(x + 14, window.innerWidth - size.width - 6))
  const below = y + 18
  const top = below + size.height < window.innerHeight - 4 ? below : Math.max(4, y - size.height - 12)
  return (
    <div class="hover" role="tooltip" ref={card} style={{ left: `${left}px`, top: `${top}px` }}>
      {content}
    </div>
  )
}
