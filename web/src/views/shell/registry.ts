/** Every view, in the order of the tabs and of their keys: one line each. */
import { autotune } from "../tables/autotune"
import { diff } from "../diff/diff"
import { flame } from "../flame/flame"
import { inKernel } from "../inkernel/inkernel"
import { kernels } from "../tables/kernels"
import { modules } from "../tables/modules"
import { ranks } from "../tables/ranks"
import { roofline } from "../roofline/roofline"
import { source } from "../source/source"
import { summary } from "../summary/summary"
import { timeline } from "../timeline/timeline"
import type { View } from "../widgets/view"

export const VIEWS: readonly View[] = [
  summary,
  flame,
  kernels,
  modules,
  timeline,
  roofline,
  source,
  inKernel,
  autotune,
  diff,
  ranks,
]
