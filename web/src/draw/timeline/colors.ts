/** Colours of timelines: spans by kind, gaps by cause. Gaps are pale, so that work stands out. */
import type { Timeline } from "../../layout/timeline/spans"
import { type Hue, oklch } from "../colors"

export const HUES: readonly Hue[] = ["kernel", "copy", "scope", "python", "line", "host"]
export const STEPS = 6

/** Hue angle, chroma and lightness (light, dark) of each cause, in the order of the part's. */
const CAUSES: readonly (readonly [number, number, number, number])[] = [
  [305, 0.13, 0.78, 0.5], // host busy: violet
  [175, 0.09, 0.72, 0.48], // waiting for a copy: as copies
  [250, 0.1, 0.76, 0.46], // waiting for another stream: blue
  [95, 0.12, 0.86, 0.58], // launch latency: yellow
  [250, 0.01, 0.83, 0.42], // not known: grey
]

export function causeColor(cause: number, dark: boolean): string {
  const [angle, chroma, light, dim] = CAUSES[cause] ?? CAUSES[4] ?? [0, 0, 0.8, 0.4]
  return oklch(dark ? dim : light, chroma, angle)
}

/** The hue of every look, as a place in HUES. */
export function huesOf(timeline: Timeline): Uint8Array {
  const found = new Uint8Array(timeline.lookCount)
  for (let look = 0; look < found.length; look++) found[look] = HUES.indexOf(hueOf(timeline, look))
  return found
}

/** The hue of a span, as a place in HUES. */
export function hueOfSpan(timeline: Timeline, span: number): number {
  return HUES.indexOf(hueOf(timeline, timeline.look[span] as number))
}

function hueOf(timeline: Timeline, look: number): Hue {
  switch (timeline.kindOfLook(look)) {
    case "kernel":
    case "graph":
    case "cta":
      return "kernel"
    case "copy":
      return "copy"
    case "launch":
      return "host"
    case "other":
      return "line"
    default:
      return "scope"
  }
}

/** A step of lightness for every look: names keep theirs, so that neighbours can be told apart. */
export function stepsOf(timeline: Timeline): Uint8Array {
  const found = new Uint8Array(timeline.lookCount)
  for (let look = 0; look < found.length; look++) found[look] = hash(timeline.nameOfLook(look)) % STEPS
  return found
}

function hash(text: string): number {
  let value = 7
  for (let at = 0; at < Math.min(text.length, 200); at++) value = (Math.imul(value, 31) + text.charCodeAt(at)) >>> 0
  return (value ^ (value >>> 13)) >>> 0
}
