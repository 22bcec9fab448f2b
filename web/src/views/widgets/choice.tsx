/** One of a few: buttons in a row, and bars in cells. */
import type { VNode } from "preact"
import type { Quantity } from "../../units"
import { Num } from "./number"

export interface Option {
  id: string
  title: string
  hint?: string
}

export function Choice(props: { label: string; options: readonly Option[]; value: string; onPick(id: string): void }): VNode {
  return (
    <span class="choice" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.id}
          title={option.hint}
          aria-pressed={option.id === props.value}
          onClick={() => props.onPick(option.id)}
        >
          {option.title}
        </button>
      ))}
    </span>
  )
}

/** A share as a bar with its number behind. */
export function BarCell(props: { share: number | null; color: string; of: Quantity; mark?: string }): VNode {
  const { share } = props
  return (
    <span class="barcell">
      <span class="track">
        {share === null ? null : (
          <span class="filled" style={{ width: `${100 * Math.min(Math.max(share, 0), 1)}%`, background: props.color }} />
        )}
      </span>
      <Num of={props.of} mark={props.mark} />
    </span>
  )
}
