/** The kernels of the first screen: those that take the most time. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle } from "../../names"
import type { KernelsPart } from "../../schema"
import { fittingNames, isDark, matcher, selectKernel, selectedKernel } from "../../state"
import { amount, count, percent, text, time } from "../../units"
import { Name, Num, Quantile } from "../widgets/facts"
import { useArrows } from "../widgets/table"

const MOST_KERNELS = 20

interface Column {
  title: string
  /** Letters that its units need, and whether its numbers are whole: for the room they get. */
  unit: number
  isWhole?: boolean
  /** Gives way first (1) or second (2) where room is short. */
  gives?: 1 | 2
  cell(at: number): VNode
}

/** The columns that some of the shown kernels have a value for. */
function columnsOf(table: KernelsPart, rows: readonly number[]): Column[] {
  const has = (values: readonly unknown[]): boolean => rows.some((at) => (values[at] ?? null) !== null)
  const all: [boolean, Column][] = [
    [true, { title: "time", unit: 2, cell: (at) => <Num of={time(table.time_ns[at])} /> }],
    [true, { title: "share", unit: 1, cell: (at) => <Num of={percent(table.share[at])} /> }],
    [has(table.count), { title: "n", unit: 0, isWhole: true, cell: (at) => <Num of={count(table.count[at])} /> }],
    [has(table.p50_ns), { title: "p50", unit: 2, gives: 2, cell: (at) => <Quantile of={table.p50_ns[at]} /> }],
    [has(table.p99_ns), { title: "p99", unit: 2, gives: 2, cell: (at) => <Quantile of={table.p99_ns[at]} /> }],
    [!has(table.p50_ns), { title: "average", unit: 2, cell: (at) => <Num of={time(table.avg_ns[at])} /> }],
    [has(table.flop_per_s), { title: "arithmetic", unit: 7, gives: 1, cell: (at) => <Num of={amount(table.flop_per_s[at], "FLOP/s")} /> }],
    [has(table.byte_per_s), { title: "memory", unit: 4, gives: 1, cell: (at) => <Num of={amount(table.byte_per_s[at], "B/s")} /> }],
    [has(table.share_of_peak), { title: "of peak", unit: 1, cell: (at) => <Num of={percent(table.share_of_peak[at])} /> }],
  ]
  return all.filter(([isThere]) => isThere).map(([, column]) => column)
}

/** Its class says how soon the column gives way where room is short. */
function classOf(column: Column): string {
  return `${column.isWhole ? "whole " : ""}${column.gives === undefined ? "" : `gives-${column.gives}`}`
}

export function Kernels({ of, table }: { of: Profile; table: KernelsPart }): VNode {
  const rows = fittingNames(of, table.name).slice(0, MOST_KERNELS)
  const columns = columnsOf(table, rows)
  const chosen = rows.findIndex((at) => table.name[at] === selectedKernel.value)
  useArrows(rows, chosen, (at) => selectKernel(table.name[at] as string))
  const more = table.name.length - rows.length
  return (
    <section>
      <table class="kernels">
        <thead>
          <tr>
            <th class="name">top kernels</th>
            {columns.map((column) => (
              <th key={column.title} class={classOf(column)}>{column.title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((at) => {
            const name = table.name[at] as string
            return (
              <tr key={name} aria-selected={selectedKernel.value === name} onClick={() => selectKernel(name)}>
                <td class="name" title={cutMiddle(of.whole(name), 4000)}>
                  <div class="line">
                    <span class="swatch" style={{ background: strongOf(hueOfKind(table.kind[at] ?? "k"), isDark.value) }} />
                    <Name of={of.shown(name)} />
                  </div>
                </td>
                {columns.map((column) => (
                  <td key={column.title} class={classOf(column)} style={{ "--unit": `${column.unit + 0.6}ch` }}>
                    {column.cell(at)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
      {more > 0 ? (
        <p class="quiet">
          {text(count(more))} more {matcher.value === null ? "below these; the view Kernels has all" : "that do not fit the search or take less"}
        </p>
      ) : null}
    </section>
  )
}
