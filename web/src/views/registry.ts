/** Every view, in the order of the tabs: one line each. */
import { autotune } from "./autotune"
import { diff } from "./diff"
import { flame } from "./flame"
import { kernels } from "./kernels"
import { roofline } from "./roofline"
import { summary } from "./summary"
import { timeline } from "./timeline"
import type { View } from "./view"

export const VIEWS: readonly View[] = [
  summary,
  flame,
  kernels,
  timeline,
  roofline,
  autotune,
  diff,
]
