/** Every view, in the order of the tabs: one line each. */
import { autotune } from "./autotune"
import { diff } from "./diff"
import { flame } from "./flame"
import { inKernel } from "./inkernel"
import { kernels } from "./kernels"
import { ranks } from "./ranks"
import { roofline } from "./roofline"
import { source } from "./source"
import { summary } from "./summary"
import { timeline } from "./timeline"
import type { View } from "./view"

export const VIEWS: readonly View[] = [
  summary,
  flame,
  kernels,
  timeline,
  roofline,
  source,
  inKernel,
  autotune,
  ranks,
  diff,
]
