/** What a view is, and what it needs of a profile. Views stand in shell/registry.ts, one line each. */
import type { ComponentType } from "preact"
import type { Page, Profile } from "../../model"

export interface View {
  /** Its word in the address. */
  id: string
  title: string
  /** The digit that goes to it. */
  key: string
  /** Whether there is something to show; the tab of a view that has nothing is grey. */
  isPresent(page: Page, profile: Profile): boolean
  Component: ComponentType
  /** How many of what it shows fit the search; without it, or null: contexts are counted. */
  hits?(page: Page, profile: Profile): [number, string] | null
  /** More about the selection, at the end of the pane on the right; null where it has nothing. */
  Details?: ComponentType
  /** A key while the view is shown; true where it was meant for the view. */
  onKey?(event: KeyboardEvent): boolean
  /** Enter in the search: go to the next of `hits`; false where there is none. */
  goToHit?(): boolean
  /** Keys of the view, for the help: `["w a s d", "move and zoom"]`. */
  keys?: readonly (readonly [string, string])[]
}

const NEEDS: Readonly<Record<string, readonly [string, string]>> = {
  flame: ["The flame graph", "a metric that adds up, and none was recorded"],
  kernels: ["Kernels", "kernels or copies, and none were recorded"],
  modules: ["The view of modules", "modules or operators of a framework: record with proton -c ops"],
  timeline: ["The timeline", "a trace, and this profile is a tree: record one with proton -d trace, or data=\"trace\""],
  roofline: ["The roofline", "flops or bytes of kernels, and a device whose peak rates are known: record with --hook triton"],
  source: ["The source view", "samples of instructions, or regions of kernels: record with proton -m pcsampling, or --instrument ops"],
  inkernel: ["The in-kernel view", "records from inside kernels: record with proton --instrument ops"],
  autotune: ["The autotune view", "autotuning during the session, and none was recorded"],
  ranks: ["The view of ranks", "profiles of several ranks in one: proton merge"],
  diff: ["The diff", "two profiles: proton report BEFORE AFTER"],
}

/** One line for a view that is asked for and has nothing to show; empty for views nobody knows. */
export function needsLine(id: string): string {
  const found = Object.hasOwn(NEEDS, id) ? NEEDS[id] : undefined
  return found === undefined ? "" : `${found[0]} needs ${found[1]}.`
}
