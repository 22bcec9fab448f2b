/** Numbers in tables and lists: aligned on the decimal point, with a mark where they are estimated. */
import type { VNode } from "preact"
import type { Quantity } from "../../units"
import { text } from "../../units"

/** A quantity in three pieces, so that those above each other line up. */
export function Num({ of, mark, title }: { of: Quantity; mark?: string | undefined; title?: string }): VNode {
  return (
    <span class="num" title={mark ?? title}>
      <span class="whole">{mark === undefined ? of.whole : `~${of.whole}`}</span>
      <span class="fraction">{of.fraction}</span>
      <span class="unit">{of.unit}</span>
    </span>
  )
}

/** A quantity in running text. */
export function Said({ of }: { of: Quantity }): VNode {
  return <span class="said">{text(of)}</span>
}
