/** Every view, in the order of the tabs: one line each. */
import { summary } from "./summary"
import { timeline } from "./timeline"
import type { View } from "./view"

export const VIEWS: readonly View[] = [
  summary,
  timeline,
]
