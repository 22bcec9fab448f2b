/** Rows of work by module, operator, kernel or line: how they are called, selected and listed. */
import { hueOfKind, strongOf } from "../../draw/colors"
import { type By, type WorkRow, sumOf } from "../../layout/work"
import type { Profile } from "../../model"
import { printable } from "../../names"
import type { FrameKind, WorkPart } from "../../schema"
import { isDark, metric, selectKernel, selectRow, selectedKernel, selectedRow } from "../../state"
import { COUNT, SHARE, TIME, type TableColumn, numberColumn } from "./columns"
import { shortName } from "./facts"
import { Swatch } from "./label"

export const KINDS: Record<By, FrameKind> = { module: "m", op: "o", kernel: "k", line: "p" }
export const TITLES: Record<By, string> = { module: "Modules", op: "Operators", kernel: "Kernels", line: "Lines" }
const OUTSIDE: Record<By, string> = { module: "outside of modules", op: "outside of operators", kernel: "", line: "outside of the program's lines" }
const PHASES = ["forward", "backward", "recompute"] as const
const HINTS = ["", "what the backward pass did for it", "what checkpointing did again"]

const heaviest = new WeakMap<Profile, Map<string, number>>()

/** The context of this name with the most of the metric that is shown; null where there is none. */
function contextOf(of: Profile, by: By, raw: string): number | null {
  let known = heaviest.get(of)
  if (known === undefined) heaviest.set(of, (known = new Map()))
  const key = `${metric.value} ${by} ${raw}`
  let found = known.get(key)
  if (found === undefined) {
    const totals = of.totals(metric.value)
    found = 0
    for (let row = 1; row < of.size; row++) {
      if (of.rawName(row) !== raw || of.kind(row) !== KINDS[by]) continue
      if (found === 0 || (totals[row] as number) > (totals[found] as number)) found = row
    }
    known.set(key, found)
  }
  return found === 0 ? null : found
}

/** Select what a row stands for: a kernel, or its heaviest context. */
export function selectWork(of: Profile, by: By, raw: string): void {
  if (by === "kernel") return selectKernel(raw)
  const row = contextOf(of, by, raw)
  if (row !== null) selectRow(row)
}

/** The name that is selected, of what rows stand for; null where something else is. */
export function selectedName(of: Profile, by: By): string | null {
  if (by === "kernel") return selectedKernel.value
  const row = selectedRow.value
  return row !== null && of.kind(row) === KINDS[by] ? of.rawName(row) : null
}

/** What a row is called. */
export function workName(of: Profile, part: WorkPart, by: By, name: number): string {
  const raw = part.names[name] ?? ""
  if (name === 0) return OUTSIDE[by]
  const row = by === "line" ? contextOf(of, by, raw) : null
  return printable(row === null ? of.shown(raw) : shortName(of, row))
}

/** The columns that the recording has something for; shares are of `all`. */
export function workColumns(of: Profile, part: WorkPart, by: By, rows: readonly WorkRow[], all = rows): TableColumn<WorkRow>[] {
  const hasGpu = all.some((row) => sumOf(row.time) > 0)
  const split = (row: WorkRow): WorkRow["time"] => (hasGpu ? row.time : row.cpu)
  const whole = all.reduce((sum, row) => sum + sumOf(split(row)), 0)
  const largest = rows.reduce((most, row) => Math.max(most, sumOf(split(row))), 0)
  const color = strongOf(hueOfKind(KINDS[by]), isDark.value)
  const known = (value: number): number | null => (value === 0 ? null : value)
  const name = (row: WorkRow): string => workName(of, part, by, row.name)
  const columns: TableColumn<WorkRow>[] = [
    {
      id: "name",
      title: TITLES[by].toLowerCase().slice(0, -1),
      isText: true,
      name,
      whole: (row) => (row.name === 0 ? OUTSIDE[by] : of.whole(part.names[row.name] ?? "")),
      before: () => <Swatch kind={KINDS[by]} />,
      key: (row) => name(row).toLowerCase(),
    },
    numberColumn(rows, { id: "time", title: hasGpu ? "GPU time" : "CPU time", width: 94, as: TIME, of: (row) => known(sumOf(split(row))) }),
    numberColumn(rows, {
      id: "share",
      title: "share",
      width: 112,
      as: SHARE,
      of: (row) => known(sumOf(split(row)) / whole),
      bar: { share: (row) => (largest > 0 ? sumOf(split(row)) / largest : null), color: () => color },
    }),
  ]
  if (rows.some((row) => split(row)[1] > 0 || split(row)[2] > 0)) {
    PHASES.forEach((title, at) => {
      if (!rows.some((row) => (split(row)[at] as number) > 0)) return
      const hint = HINTS[at] as string
      columns.push(numberColumn(rows, { id: title, title, width: 94, as: TIME, of: (row) => known(split(row)[at] as number), ...(hint === "" ? {} : { hint }) }))
    })
  }
  if (hasGpu) columns.push(numberColumn(rows, { id: "n", title: "kernels", width: 80, as: COUNT, of: (row) => known(row.count), hint: "how often kernels ran" }))
  if (hasGpu && rows.some((row) => sumOf(row.cpu) > 0)) {
    const hint = "of operators and scopes, without those inside"
    columns.push(numberColumn(rows, { id: "cpu", title: "CPU time", width: 94, as: TIME, of: (row) => known(sumOf(row.cpu)), hint }))
  }
  if (rows.some((row) => row.calls > 0)) {
    const title = by === "op" ? "calls" : "operator calls"
    columns.push(numberColumn(rows, { id: "calls", title, width: by === "op" ? 80 : 116, as: COUNT, of: (row) => known(row.calls), hint: "of the forward pass and of what was recomputed" }))
  }
  return columns
}
