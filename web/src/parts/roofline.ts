/** The part `roofline`, as render/page/roofline.py makes it. */
import type { KindLetter } from "../format"
import type { Profile } from "../model"

export interface RoofPart {
  /** Bits of an operand. */
  width: number
  label: string
  flops_per_s: number
}

export interface RoofDevice {
  name: string
  id: string
  bytes_per_s: number | null
  roofs: RoofPart[]
}

/** One kernel, or a scope that declares work, on one device; null: not known. */
export interface RoofDot {
  name: string
  kind: KindLetter
  row: number
  device: number | null
  contexts: number
  count: number | null
  time_ns: number
  width: number | null
  intensity: number | null
  flops_per_s: number | null
  bytes_per_s: number | null
  least_ns: number | null
  headroom_ns: number | null
  share_of_peak: number | null
  bound: "compute" | "memory" | null
}

export interface RooflinePart {
  devices: RoofDevice[]
  /** Those with the most to win first. */
  dots: RoofDot[]
}

export function rooflineOf(profile: Profile): RooflinePart | null {
  return profile.part<RooflinePart>("roofline")
}
