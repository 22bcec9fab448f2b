/** What pictures on canvases have in common: as wide as their box, and with a use for the wheel. */
import type { RefObject } from "preact"
import { useLayoutEffect, useState } from "preact/hooks"

/** The width of an element, kept up to date. */
export function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const box = place.current
    if (box === null) return undefined
    setWidth(box.clientWidth)
    const watch = new ResizeObserver(() => setWidth(box.clientWidth))
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  return width
}

/** Listen to the wheel; what the picture does not use scrolls the page. */
export function useWheel(canvas: RefObject<HTMLCanvasElement | null>, onWheel: (event: WheelEvent) => boolean): void {
  useLayoutEffect(() => {
    const box = canvas.current
    const listen = (event: WheelEvent): void => {
      if (onWheel(event)) event.preventDefault()
    }
    box?.addEventListener("wheel", listen, { passive: false })
    return () => box?.removeEventListener("wheel", listen)
  })
}
