/** Colours of stall reasons: a hue for what is waited for, lightness for the reasons of one kind. */
import { oklch } from "./colors"

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
    const step = at / Math.max(reasons.length - 1, 3)
    return oklch(dark ? 0.74 - 0.3 * step : 0.56 + 0.3 * step, chroma * (1 - 0.35 * step), angle)
  }
  return oklch(dark ? 0.5 : 0.74, 0.008, 250)
}
