/** Words of the timeline: names of spans, causes of gaps, arguments of launches. */
import type { Profile } from "../../model"
import { printable } from "../../names"
import type { Arguments, Timeline } from "../../layout/timeline/spans"
import { memory, metricQuantity, percent, text } from "../../units"

const CAUSES: Readonly<Record<string, string>> = {
  "host busy": "the call that launched the next work had not begun",
  "waiting for a copy": "the next work was launched, but a copy ran on another stream; or the host sat in a copy's call",
  "waiting for another stream": "the next work was launched, but other work of the device came first",
  "launch latency": "the next work was launched and nothing else ran: the driver and the device took this long to start it",
  "not known": "the trace does not say when the next work was launched",
}

export function causeText(cause: string): string {
  return CAUSES[cause] ?? ""
}

/** Names of spans as people read them, by look, each made once. */
export function labelsOf(timeline: Timeline, profile: Profile): (look: number) => string {
  const made: string[] = []
  return (look) => (made[look] ??= printable(profile.shown(timeline.nameOfLook(look))))
}

const SHARES = new Set(["occupancy"])

/** An argument's name as people say it: `dynamic_shared_bytes` -> `dynamic shared`. */
export function argumentName(name: string): string {
  return printable(/^[a-z_]+$/.test(name) ? name.replace(/_bytes$/, "").replaceAll("_", " ") : name)
}

/** What an argument says: `132 × 1 × 1`, `96.0 KiB`, `18.8 %`, `cuLaunchKernel`. */
export function argumentText(name: string, value: Arguments[string]): string {
  if (typeof value === "string") return printable(value)
  if (typeof value !== "number") return value.map(String).join("\u202f×\u202f")
  if (SHARES.has(name)) return text(percent(value))
  return text(/_bytes$/.test(name) ? memory(value) : metricQuantity(name, value))
}
