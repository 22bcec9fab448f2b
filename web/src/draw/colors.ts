/** Colours: a hue for each kind of frame, stall reason and region, with a light and a dark value; red is for problems. */
import type { FrameKind } from "../schema"

/** What is drawn: frames of the tree, and host work of timelines. */
export type Hue = "kernel" | "copy" | "scope" | "python" | "line" | "module" | "operator" | "backward" | "host"

const OF_KIND: Record<FrameKind, Hue> = {
  r: "host",
  s: "scope",
  t: "scope",
  p: "python",
  k: "kernel",
  c: "copy",
  l: "line",
  m: "module",
  o: "operator",
  b: "backward",
}

/** Hue angle and chroma in OKLCH. */
const HUES: Record<Hue, readonly [number, number]> = {
  kernel: [68, 0.125],
  copy: [168, 0.09],
  scope: [248, 0.085],
  python: [345, 0.09],
  line: [105, 0.1],
  module: [300, 0.09],
  operator: [208, 0.085],
  backward: [136, 0.1],
  host: [250, 0.012],
}

export function hueOfKind(kind: FrameKind): Hue {
  return OF_KIND[kind]
}

export interface Fill {
  /** CSS colours. */
  fill: string
  text: string
}

const made = new Map<string, Fill>()

/** The colours of a box of this hue and depth; `dim` for what a search or selection leaves out. */
export function fillOf(hue: Hue, depth: number, dark: boolean, dim = false): Fill {
  const step = depth % 6
  const key = `${hue}${step}${dark}${dim}`
  let found = made.get(key)
  if (found === undefined) {
    const [angle, chroma] = HUES[hue]
    const swing = Math.abs(3 - step) / 3 // down and up again, so that neighbours differ
    const lightness = dark ? 0.45 + 0.06 * swing : 0.8 + 0.08 * swing
    const fill = oklch(dim ? (dark ? 0.29 : 0.94) : lightness, dim ? chroma * 0.25 : chroma * (dark ? 0.8 : 1), angle)
    const text = dim ? (dark ? "#9aa2ad" : "#5c6470") : dark ? "#f4f6f8" : "#14181d"
    found = { fill, text }
    made.set(key, found)
  }
  return found
}

const [MORE, LESS] = [35, 250] // hues that differ for every eye
const FULL = 0.5 // a change from which on the colour grows no stronger

/** The colours of a box that became longer (1: it is new) or shorter (-1: it is gone); 0: as before. */
export function fillOfChange(change: number, dark: boolean, dim = false): Fill {
  const strength = Math.min(Math.abs(change) / FULL, 1)
  const [angle, chroma] = [change > 0 ? MORE : LESS, 0.008 + 0.132 * strength]
  const lightness = dark ? 0.38 + 0.09 * strength : 0.9 - 0.16 * strength
  const { fill, text } = fillOf("host", 0, dark, true)
  return dim ? { fill, text } : { fill: oklch(lightness, chroma, angle), text: dark ? "#f4f6f8" : "#14181d" }
}

/** The strong colour of a hue, for bars, dots and legends. */
export function strongOf(hue: Hue, dark: boolean): string {
  const [angle, chroma] = HUES[hue]
  return oklch(dark ? 0.72 : 0.66, chroma * 1.2, angle)
}

/** OKLCH to `#rrggbb`; what the screen cannot show is clipped. */
export function oklch(lightness: number, chroma: number, angle: number): string {
  const radians = (angle * Math.PI) / 180
  const a = chroma * Math.cos(radians)
  const b = chroma * Math.sin(radians)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
  return `#${linear.map(byteOf).join("")}`
}

function byteOf(linear: number): string {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055
  return Math.round(255 * Math.min(1, Math.max(0, value))).toString(16).padStart(2, "0")
}

interface Family {
  angle: number
  chroma: number
  reasons: readonly string[]
}

/** What a warp waits for: memory, shared memory, arithmetic, other warps, the schedule; or it advances. */
const FAMILIES: Record<string, Family> = {
  memory: {
    angle: 252,
    chroma: 0.13,
    reasons: ["long_scoreboard", "lg_throttle", "drain", "membar", "tex_throttle", "imc_miss"],
  },
  shared: { angle: 185, chroma: 0.09, reasons: ["short_scoreboard", "mio_throttle"] },
  arithmetic: {
    angle: 66,
    chroma: 0.13,
    reasons: ["math_pipe_throttle", "gmma", "warpgroup_arrive", "dispatch_stall"],
  },
  warps: { angle: 322, chroma: 0.12, reasons: ["barrier", "sleeping"] },
  schedule: {
    angle: 104,
    chroma: 0.075,
    reasons: ["wait", "branch_resolving", "no_instructions", "misc"],
  },
  progress: { angle: 145, chroma: 0.1, reasons: ["selected", "not_selected"] },
}

/** The colour of a reason; grey for what is not known and for several together. */
export function colorOfReason(name: string, dark: boolean): string {
  for (const { angle, chroma, reasons } of Object.values(FAMILIES)) {
    const at = reasons.indexOf(name)
    if (at < 0) continue
    const step = at / Math.max(reasons.length - 1, 3) // lighter with each, in both themes: pictures of two people match
    return oklch(dark ? 0.56 + 0.26 * step : 0.56 + 0.3 * step, chroma * (1 - 0.35 * step), angle)
  }
  return oklch(dark ? 0.5 : 0.74, 0.008, 250)
}

// Blue, orange, green, pink, olive, teal, violet: far apart for colour-blind people when next to each other.
const ANGLES = [250, 65, 155, 340, 105, 200, 300]

/** The colour of the region with this number. */
export function colorOfRegion(number: number, dark: boolean): string {
  const round = Math.floor(number / ANGLES.length) % 3
  const angle = ANGLES[number % ANGLES.length] as number
  const lightness = dark ? 0.74 - 0.06 * round : 0.72 + 0.08 * round
  return oklch(lightness, 0.11 - 0.025 * round, angle)
}

/** Text on such a colour. */
export function inkOfRegion(dark: boolean): string {
  return dark ? "#101317" : "#14181d"
}

/** From nothing to all: the ground of the page to a strong blue. */
export function colorOfHeat(share: number, dark: boolean): string {
  const at = Math.min(Math.max(share, 0), 1)
  return dark ? oklch(0.26 + 0.58 * at, 0.03 + 0.1 * at, 250 - 150 * at) : oklch(0.95 - 0.55 * at, 0.02 + 0.13 * at, 235 + 30 * at)
}
