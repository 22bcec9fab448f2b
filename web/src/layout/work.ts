/** Work by module, operator, kernel or line, also that in one of them only. */
import type { WorkPart } from "../schema"
import type { Column } from "../unpack"

export const BY = ["module", "op", "kernel", "line"] as const
export type By = (typeof BY)[number]

/** A number for each phase: forward, backward, recomputed. */
export type Phases = [forward: number, backward: number, recompute: number]

/** All work of one name; `name` is a place in the part's names. */
export interface WorkRow {
  name: number
  time: Phases
  cpu: Phases
  count: number
  calls: number
}

/** Names that work has to lie in, by what they are names of. */
export type Within = Readonly<Partial<Record<By, number>>>

/** A row for each name, over the work that lies in all of `within`; operators around are no kernel. */
export function groupWork(part: WorkPart, column: (id: string) => Column, by: By, within: Within): WorkRow[] {
  const names = column(part[by])
  const wanted = BY.flatMap((each) => (within[each] === undefined ? [] : [[column(part[each]), within[each]] as const]))
  const [phase, time, cpu] = [column(part.phase), column(part.time_ns), column(part.cpu_ns)]
  const [count, calls] = [column(part.count), column(part.calls)]
  const rows = new Map<number, WorkRow>()
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as number
    if ((by === "kernel" && name === 0) || wanted.some(([of, only]) => of[at] !== only)) continue
    let row = rows.get(name)
    if (row === undefined) rows.set(name, (row = { name, time: [0, 0, 0], cpu: [0, 0, 0], count: 0, calls: 0 }))
    const which = (phase[at] as number) as 0 | 1 | 2
    row.time[which] += time[at] as number
    row.cpu[which] += cpu[at] as number
    row.count += count[at] as number
    row.calls += calls[at] as number
  }
  return [...rows.values()]
}

export function sumOf(phases: Phases): number {
  return phases[0] + phases[1] + phases[2]
}
