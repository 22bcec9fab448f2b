/** The kernels of the first screen: those that take the most time. */
import type { VNode } from "preact"
import type { Profile } from "../../model"
import type { KernelsPart } from "../../schema"
import { fittingNames, matcher, selectKernel, selectedKernel, view } from "../../state"
import { count, text } from "../../units"
import { COUNT, type Measure, type NumberColumn, SHARE, TIME, type TableColumn, amounts, numberColumn } from "../widgets/columns"
import { estimateOf } from "../widgets/facts"
import { kernelColumn } from "../widgets/label"
import { PlainTable } from "../widgets/plain_table"
import { useArrows } from "../widgets/table"

const MOST_KERNELS = 20

/** The columns that some of the shown kernels have a value for. */
function columnsOf(of: Profile, table: KernelsPart, rows: readonly number[]): TableColumn<number>[] {
  const columns: TableColumn<number>[] = [
    { ...kernelColumn<number>(of, (at) => ({ name: table.name[at] as string, kind: table.kind[at] ?? "k" })), title: "top kernels" },
  ]
  const has = (pick: (at: number) => number | null | undefined): boolean => rows.some((at) => (pick(at) ?? null) !== null)
  const add = (title: string, as: Measure, pick: (at: number) => number | null | undefined, more: Partial<NumberColumn<number>> = {}): void => {
    if (has(pick)) columns.push(numberColumn(rows, { id: title, title, width: 0, as, of: pick, ...more }))
  }
  const quantile = (title: string, list: KernelsPart["p50_ns"]): void => add(title, TIME, (at) => list[at]?.[0], { gives: 2, mark: (at) => estimateOf(list[at]) })
  add("time", TIME, (at) => table.time_ns[at])
  add("share", SHARE, (at) => table.share[at])
  add("n", COUNT, (at) => table.count[at])
  quantile("p50", table.p50_ns)
  quantile("p99", table.p99_ns)
  if (!has((at) => table.p50_ns[at]?.[0])) add("average", TIME, (at) => table.avg_ns[at])
  add("arithmetic", amounts("FLOP/s"), (at) => table.flop_per_s[at], { gives: 1 })
  add("memory", amounts("B/s"), (at) => table.byte_per_s[at], { gives: 1 })
  add("of peak", SHARE, (at) => table.share_of_peak[at], { least: (at) => table.peak_remark[at] ?? undefined })
  return columns
}

export function Kernels({ of, table }: { of: Profile; table: KernelsPart }): VNode {
  const rows = fittingNames(of, table.name).slice(0, MOST_KERNELS)
  const chosen = rows.findIndex((at) => table.name[at] === selectedKernel.value)
  useArrows(rows, chosen, (at) => selectKernel(table.name[at] as string))
  const more = table.name.length - rows.length
  return (
    <section>
      <PlainTable
        kind="kernels"
        label="top kernels"
        columns={columnsOf(of, table, rows)}
        rows={rows}
        idOf={(at) => table.name[at] as string}
        isSelected={(at) => selectedKernel.value === table.name[at]}
        onSelect={(at) => selectKernel(table.name[at] as string)}
        foot={more > 0 ? <More count={more} /> : null}
      />
    </section>
  )
}

function More({ count: more }: { count: number }): VNode {
  const words = `${text(count(more))} more ${matcher.value === null ? "below these" : "that do not fit the search or take less"}`
  return (
    <button class="link" onClick={() => (view.value = "kernels")}>
      {words}
    </button>
  )
}
