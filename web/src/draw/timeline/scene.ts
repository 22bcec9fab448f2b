/** What a frame of a timeline is drawn from. */
import type { Window } from "../../layout/timeline/nesting"
import type { Chart, Marks } from "../../layout/timeline/chart"
import { type Row, TRACK_HEIGHT } from "../../layout/timeline/rows"
import type { Tick } from "../../layout/timeline/window"

export const BAR_HEIGHT = TRACK_HEIGHT - 2

/** Everything that one frame shows. */
export interface Scene {
  chart: Chart
  window: Window
  ticks: readonly Tick[]
  rows: readonly Row[]
  closed: ReadonlySet<string>
  /** How far the rows are scrolled, and how much of them is seen. */
  scrollTop: number
  height: number
  dark: boolean
  hues: Uint8Array
  steps: Uint8Array
  label(look: number): string
  found: Marks | null
  chosen: Marks | null
  selected: number | null
  hovered: number | null
  colors: { ground: string; line: string; ink: string; quiet: string; accent: string; track: string }
}
