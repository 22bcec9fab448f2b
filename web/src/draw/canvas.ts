/** A canvas as large as its box in the pixels of the screen, and the colours of the page for it. */

/** Fit `canvas` to `width` and `height` and clear it; returns what draws in CSS pixels. */
export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const context = canvas.getContext("2d")
  context?.setTransform(ratio, 0, 0, ratio, 0, 0)
  context?.clearRect(0, 0, width, height)
  return context
}

export interface Inks {
  ground: string
  raised: string
  line: string
  ink: string
  quiet: string
  accent: string
}

/** The page's colours; the theme's element has them as variables. */
export function inks(): Inks {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string): string => style.getPropertyValue(name).trim()
  return {
    ground: of("--ground"),
    raised: of("--raised"),
    line: of("--line"),
    ink: of("--ink"),
    quiet: of("--quiet"),
    accent: of("--accent"),
  }
}

/** The font of texts on canvases. */
export const FONT = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
