/** Why warps waited, in every size: a bar by reason, a legend, and words for the card at the pointer. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { colorOfReason } from "../../draw/colors"
import { NO_REASON, OTHERS, type Sum, barOf } from "../../layout/source"
import { cutMiddle, printable } from "../../names"
import type { SourcePart } from "../../schema"
import { isDark } from "../../state"
import { count, percent, text } from "../../units"
import { Num } from "../widgets/facts"
import "./source.css"

const MOST_PIECES = 8
const MOST_WORDS = 6
const MOST_MEANINGS = 3

const WITHOUT = "issued, or no reason given"

function nameOf(part: SourcePart, reason: number): string {
  if (reason === NO_REASON) return WITHOUT
  return reason === OTHERS ? "others" : (part.reasons[reason]?.[0] ?? "others")
}

/** A bar whose whole length is `share` of its room, divided by reason; `focus` is the reason that counts. */
export function ReasonBar(props: { part: SourcePart; sum: Sum; share: number; focus: number | null }): VNode {
  const { part, sum, focus } = props
  return (
    <span class="reason-bar">
      <span class="reason-pieces" style={{ width: `${100 * Math.min(props.share, 1)}%` }}>
        {barOf(sum, MOST_PIECES).map(({ reason, share }) => (
          <span
            key={reason}
            class={`${focus === null || focus === reason ? "" : "faint"} ${reason === NO_REASON ? "without" : ""}`}
            title={`${nameOf(part, reason)} ${text(percent(share))}`}
            style={{ width: `${100 * share}%`, background: colorOfReason(nameOf(part, reason), isDark.value) }}
          />
        ))}
      </span>
    </span>
  )
}

/** What the pieces of the bar mean, with their shares; a click on a reason makes it the one that counts. */
export function ReasonLegend(props: { part: SourcePart; sum: Sum; focus: number | null; onFocus(reason: number | null): void }): VNode {
  const { part, sum, focus } = props
  const [isAll, setAll] = useState(false)
  const rest = sum.reasons.length - MOST_PIECES
  return (
    <div class="reason-legend">
      {barOf(sum, isAll ? sum.reasons.length : MOST_PIECES).map(({ reason, samples, share }) => {
        const name = nameOf(part, reason)
        const [, meaning, remedy] = part.reasons[reason] ?? ["", "", ""]
        const words = (
          <>
            <span class={reason === NO_REASON ? "swatch without" : "swatch"} style={{ background: colorOfReason(name, isDark.value) }} />
            {printable(name)} <span class="quiet">{text(percent(share))}</span>
          </>
        )
        if (reason < 0) return <span key={reason} class="piece" title={`${text(count(samples))} samples`}>{words}</span>
        return (
          <button
            key={reason}
            aria-pressed={focus === reason}
            title={`${meaning}\nHelps: ${remedy}\n${text(count(samples))} samples`}
            onClick={() => props.onFocus(focus === reason ? null : reason)}
          >
            {words}
          </button>
        )
      })}
      {rest > 0 ? (
        <button class="link" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "fewer" : `the ${rest} others`}
        </button>
      ) : null}
    </div>
  )
}

/** Reasons with counts and what they mean, for the card at the pointer. */
export function ReasonWords({ part, sum }: { part: SourcePart; sum: Sum }): VNode {
  const rest = sum.reasons.slice(MOST_WORDS)
  return (
    <table class="reason-words">
      <tbody>
        {sum.reasons.slice(0, MOST_WORDS).map(([reason, samples], place) => {
          const [name, meaning] = part.reasons[reason] ?? ["", ""]
          return (
            <tr key={reason}>
              <td class="name">
                <span class="swatch" style={{ background: colorOfReason(name, isDark.value) }} />
                {cutMiddle(printable(name), 40)}
              </td>
              <td><Num of={count(samples)} /></td>
              <td><Num of={percent(samples / Math.max(sum.samples, 1))} /></td>
              <td class="meaning">{place < MOST_MEANINGS ? meaning : ""}</td>
            </tr>
          )
        })}
        {rest.length > 0 ? (
          <tr>
            <td class="name quiet">{rest.length} more</td>
            <td><Num of={count(rest.reduce((all, [, samples]) => all + samples, 0))} /></td>
            <td />
            <td />
          </tr>
        ) : null}
      </tbody>
    </table>
  )
}
