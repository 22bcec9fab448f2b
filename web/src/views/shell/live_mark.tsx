/** The mark in the header of served pages: whether what is shown is what the files hold now. */
import type { VNode } from "preact"
import { type LiveState, liveState } from "../../live"

const SHOWN: Record<LiveState, readonly [string, string] | null> = {
  off: null,
  live: ["live", "the page renews itself when the files change"],
  paused: ["paused", "the page renews itself when you look at it"],
  lost: ["connection lost", "proton serve cannot be reached; the page tries again by itself"],
}

export function LiveMark(): VNode | null {
  const shown = SHOWN[liveState.value]
  if (shown === null) return null
  const [word, meaning] = shown
  return (
    <span class={`live ${liveState.value === "lost" ? "problem" : "good"}`} role="status" title={meaning}>
      ● {word}
    </span>
  )
}
