/** Colours of the regions of a kernel: as many hues as can be told apart, then the same lighter; never red. */
import { oklch } from "./colors"

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
