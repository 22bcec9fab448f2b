/** What pictures on canvases have in common: as large as their box, and with a use for the wheel. */
import type { RefObject } from "preact"
import { useLayoutEffect, useState } from "preact/hooks"

/** The size of an element, kept up to date; `first` until it is known. */
export function useSize(place: RefObject<HTMLElement | null>, first = { width: 0, height: 0 }): { width: number; height: number } {
  const [size, setSize] = useState(first)
  useLayoutEffect(() => {
    const box = place.current
    if (box === null) return undefined
    const measure = (): void => setSize({ width: box.clientWidth, height: box.clientHeight })
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  return size
}

/** Listen to the wheel; what the picture does not use scrolls the page. */
export function useWheel(canvas: RefObject<HTMLElement | null>, onWheel: (event: WheelEvent) => boolean): void {
  useLayoutEffect(() => {
    const box = canvas.current
    const listen = (event: WheelEvent): void => {
      if (onWheel(event)) event.preventDefault()
    }
    box?.addEventListener("wheel", listen, { passive: false })
    return () => box?.removeEventListener("wheel", listen)
  })
}
