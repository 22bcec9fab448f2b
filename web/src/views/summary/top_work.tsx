/** The modules or operators of the first screen: those that take the most time. */
import type { VNode } from "preact"
import { type By, groupWork, sumOf } from "../../layout/work"
import type { Profile } from "../../model"
import type { WorkPart } from "../../schema"
import { fittingNames, search, view } from "../../state"
import { count, text } from "../../units"
import { PlainTable } from "../widgets/plain_table"
import { TITLES, selectWork, selectedName, workColumns } from "../widgets/work_columns"

const MOST_ROWS = 8

export function TopWork({ of, part, by }: { of: Profile; part: WorkPart; by: By }): VNode | null {
  const all = groupWork(part, of.column, by, {})
  const hasGpu = all.some((row) => sumOf(row.time) > 0)
  const weight = (row: (typeof all)[number]): number => sumOf(hasGpu ? row.time : row.cpu)
  const fitting = new Set(fittingNames(of, part.names))
  const rows = all.filter(({ name }) => search.value.trim() === "" || (name !== 0 && fitting.has(name)))
  rows.sort((a, b) => weight(b) - weight(a))
  const shown = rows.slice(0, MOST_ROWS)
  if (!shown.some(({ name }) => name !== 0)) return null
  const title = `top ${TITLES[by].toLowerCase()}`
  const raw = (name: number): string => part.names[name] ?? ""
  const more = rows.length - shown.length
  const [first, ...others] = workColumns(of, part, by, shown, rows)
  return (
    <section>
      <PlainTable
        kind="kernels work"
        label={title}
        columns={first === undefined ? others : [{ ...first, title }, ...others]}
        rows={shown}
        idOf={(row) => String(row.name)}
        isSelected={(row) => row.name !== 0 && raw(row.name) === selectedName(of, by)}
        onSelect={(row) => selectWork(of, by, raw(row.name))}
        foot={
          more > 0 ? (
            <button class="link" onClick={() => (view.value = "modules")}>
              {text(count(more))} more below these
            </button>
          ) : null
        }
      />
    </section>
  )
}
