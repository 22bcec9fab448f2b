/** One line: how much autotuning took, and the switch that counts it. */
import type { VNode } from "preact"
import type { Profile } from "../../model"
import { countsTuning } from "../../state"
import { percent, text, time } from "../../units"

export function Tuning({ of }: { of: Profile }): VNode | null {
  const { tuning } = of.parts
  if (!tuning) return null
  const isCounted = countsTuning.value
  return (
    <p class="tuning quiet">
      autotuning took {text(time(tuning.time_ns))} ({text(percent(tuning.share))}), {isCounted ? "counted here" : "left out"};{" "}
      <button class="link" onClick={() => (countsTuning.value = !isCounted)}>{isCounted ? "leave it out" : "count it"}</button>
    </p>
  )
}
