/** Cells of the diff: verdicts, changes with their intervals, bars. */
import type { VNode } from "preact"
import { layoutDiffBar } from "../../layout/diff_bar"
import type { Profile } from "../../model"
import { printable } from "../../names"
import type { DiffChange, DiffKernel, DiffScope } from "../../schema"
import { hidesLibrary, isHidden, page } from "../../state"
import { MISSING, type Quantity, type Scale, count, grouped, percent, text } from "../../units"

export type DiffRow = DiffKernel | DiffScope

const HINTS: Record<string, string> = {
  slower: "a run takes longer: beyond chance, and by more than 1 %",
  faster: "a run takes less: beyond chance, and by more than 1 %",
  same: "no change beyond chance, or less than 1 %",
  "more runs": "it ran more often; a run takes as long as before",
  "fewer runs": "it ran less often; a run takes as long as before",
  new: "only in the second profile",
  gone: "only in the first profile",
  "not enough": "too little is known of single runs to say whether this is more than chance",
}
const BASES: Record<string, string> = {
  spans: "how the runs in the traces differ",
  spread: "count, mean and quantiles of each context: the widest interval that fits them",
  phases: "how phases differ",
  ranks: "how ranks differ",
}

/** What is compared: all the time, or what is left of the change when runs are as many as before. */
export type Measure = "total" | "speed"

/** A change and half of its interval. */
export function measured(row: DiffChange, by: Measure): [number, number | null] {
  if (by === "speed" && row.by_speed_ns !== null) return [row.by_speed_ns, row.speed_half_width_ns]
  return [row.change_ns, row.half_width_ns]
}

/** The change of one run, as a share of what it took before. */
export function perRun(row: DiffChange): number | null {
  return row.by_speed_ns === null || !row.expected_ns ? null : row.by_speed_ns / row.expected_ns
}

/** Half of an interval in the unit of the changes, so that the two can be compared. */
export function halfTime(half: number | null, { size }: Scale): string {
  return half === null ? "" : twoDigits(half / size)
}

export function halfShare(row: DiffChange): string {
  return row.speed_half_width_ns === null || !row.expected_ns ? "" : twoDigits((100 * row.speed_half_width_ns) / row.expected_ns)
}

/** What a number may be off by needs no more. */
function twoDigits(value: number): string {
  return value >= 10 ? grouped(value) : String(Number(value.toPrecision(2)))
}

/** A change in percent, with one decimal whatever its size. */
export function changeOf(share: number | null): Quantity {
  if (share === null) return percent(null)
  const [whole, fraction] = (100 * share).toFixed(1).replace(/^-(?=0\.0$)/, "").split(".") as [string, string]
  return { whole, fraction: `.${fraction}`, unit: "%" }
}

/** 240, or 240 → 320. */
export function countsText(row: DiffChange): string {
  const [before, after] = [text(count(row.before?.count)), text(count(row.after?.count))]
  return before === after ? before : `${before} → ${after}`
}

export function VerdictMark({ of }: { of: DiffChange }): VNode {
  const basis = of.basis === null ? "" : `\nfrom ${of.basis.split(", ").map((each) => BASES[each] ?? each).join(" and ")}`
  return (
    <span class={`verdict ${toneOf(of)}`} title={HINTS[of.verdict] + basis}>
      {of.verdict}
    </span>
  )
}

export function Bar({ of, by, largest }: { of: DiffChange; by: Measure; largest: number }): VNode {
  const [change, half] = measured(of, by)
  const bar = layoutDiffBar(change, half, largest)
  const share = (value: number): string => `${100 * value}%`
  return (
    <span class={`diffbar ${toneOf(of, change)}`}>
      <span class="zero" />
      <span class="change" style={{ left: share(bar.left), width: share(bar.width) }} />
      {bar.low === null || bar.high === null ? null : (
        <span class="interval" style={{ left: share(bar.low), width: share(bar.high - bar.low) }} />
      )}
    </span>
  )
}

export function launchesText(of: DiffRow): string {
  const parts = "launches" in of ? Object.entries(of.launches).map(([name, [before, after]]) => `${name} ${valueText(before)} → ${valueText(after)}`) : []
  return parts.join(", ") || MISSING
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("×")
  return value === null || value === undefined ? "–" : printable(String(value))
}

/** Red only for what became worse beyond chance; a number that says the opposite has no colour. */
export function toneOf(of: DiffChange, change = of.by_speed_ns ?? of.change_ns): string {
  if (of.verdict === "slower" && change > 0) return "worse"
  return of.verdict === "faster" && change < 0 ? "better" : ""
}

/** Before a change: nothing has no sign. */
function signOf(of: Quantity, value: number): string {
  return value > 0 && !of.whole.startsWith("<") && /[1-9]/.test(of.whole + of.fraction) ? "+" : ""
}

/** A change with what it may be off by: +1.20 ± 0.30 ms. */
export function sureText(of: Quantity, value: number, half: string): string {
  return `${signOf(of, value)}${of.whole}${of.fraction}${half === "" ? "" : ` ± ${half}`} ${of.unit}`.trim()
}

/** The same, in colour where it is beyond chance. */
export function Sure({ of, value, half, tone }: { of: Quantity; value: number; half: string; tone: string }): VNode {
  const said = sureText(of, value, half)
  const end = said.search(/ |$/)
  return (
    <span class={`sure ${tone}`}>
      <span class="change">{said.slice(0, end)}</span>
      <span class="half">{said.slice(end)}</span>
    </span>
  )
}

export function signedText(of: Quantity, value: number): string {
  return signOf(of, value) + text(of)
}

export function nameOf(row: DiffRow): string {
  return "path" in row ? pathOf(row).join(" › ") : row.name
}

export function shownName(row: DiffRow): string {
  return "path" in row ? pathOf(row).map((each) => printable(shownIn(each, "shown"))).join(" › ") : shownIn(row.name, "shown")
}

/** The profile that has a context, and its row there: the second rather than the first. */
function contextOf({ before_row: before, after_row: after }: DiffScope): [Profile | undefined, number] {
  return after >= 0 ? [page.value?.profiles[1], after] : [page.value?.profiles[0], before]
}

/** Whether a row is a frame of a library that is left out. */
export function isLeftOut(row: DiffRow): boolean {
  if (!("path" in row)) return false
  const [of, at] = contextOf(row)
  return of !== undefined && isHidden(of, at)
}

/** The names from the root down to a context, without frames that are left out. */
function pathOf(row: DiffScope): readonly string[] {
  const [of, at] = contextOf(row)
  if (of === undefined || !hidesLibrary.value) return row.path
  const rows = of.path(at).slice(-row.path.length)
  const first = row.path.length - rows.length // long paths begin with dots
  return row.path.filter((_, place) => place < first || !isHidden(of, rows[place - first] as number))
}

/** The name with all that belongs to it. */
export function wholeName(row: DiffRow): string {
  return "path" in row ? pathOf(row).map((each) => printable(shownIn(each, "whole"))).join(" › ") : shownIn(row.name, "whole")
}

/** A kernel's name as people read it, from whichever profile has it. */
function shownIn(name: string, how: "shown" | "whole"): string {
  for (const each of page.value?.profiles ?? []) {
    const found = each[how](name)
    if (found !== name) return found
  }
  return name
}
