/** What a view is. Views stand in registry.ts, one line each. */
import type { ComponentType } from "preact"
import type { Page, Profile } from "../../model"

export interface View {
  /** Its word in the address. */
  id: string
  title: string
  /** The digit that goes to it. */
  key: string
  /** Whether there is something to show; views that have nothing get no tab. */
  isPresent(page: Page, profile: Profile): boolean
  Component: ComponentType
  /** More about the selection, at the end of the pane on the right; null where it has nothing. */
  Details?: ComponentType
  /** A key while the view is shown; true where it was meant for the view. */
  onKey?(event: KeyboardEvent): boolean
  /** Keys of the view, for the help: `["w a s d", "move and zoom"]`. */
  keys?: readonly (readonly [string, string])[]
}
