/** Every kernel and copy in one table that any column sorts; what could be won stands first, and columns can be left out. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import type { KernelsPart } from "../../schema"
import { fittingNames, isDark, profile, search, selectKernel, selectedKernel, setZoom, zoom } from "../../state"
import { MISSING, count, percent, text, time } from "../../units"
import { COUNT, MEMORY, type Measure, type NumberColumn, SHARE, TIME, type TableColumn, amounts, numberColumn, wordColumn } from "../widgets/columns"
import { estimateOf } from "../widgets/facts"
import { kernelColumn } from "../widgets/label"
import { Table } from "../widgets/table"
import { Tuning } from "../widgets/tuning"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "kernels"
const LONGEST_FIRST = "-time"

export const kernels: View = {
  id: ID,
  title: "Kernels",
  key: "3",
  isPresent: (_page, shown) => shown.parts.kernels !== null,
  hits: (_page, shown) => [fittingNames(shown, shown.parts.kernels?.name ?? []).length, "kernels"],
  Component: Kernels,
}

function Kernels(): VNode | null {
  const shown = profile.value
  const table = shown === null ? null : shown.parts.kernels
  if (shown === null || table === null) return null
  const rows = fittingNames(shown, table.name)
  const { sort, hidden } = stateOf(zoom.value[ID] ?? "")
  const columns = columnsOf(shown, table, rows)
  return (
    <div class="kernels-view">
      <div class="toolbar">
        <span>
          <strong>{text(count(rows.length))}</strong>
          {search.value.trim() === "" ? "" : ` of ${text(count(table.name.length))}`} kernels and copies
        </span>
        <span class="gap" />
        <span class="quiet">{sumOf(table, rows)}</span>
        <Chooser columns={columns} hidden={hidden} onHide={(next) => setZoom(ID, textOf({ sort, hidden: next }))} />
      </div>
      <Tuning of={shown} />
      <Table
        label="kernels"
        columns={columns.filter(({ id }) => !hidden.includes(id))}
        rows={rows}
        idOf={String}
        isSelected={(at) => table.name[at] === selectedKernel.value}
        onSelect={(at) => selectKernel(table.name[at] as string)}
        sort={sort}
        onSort={(next) => setZoom(ID, textOf({ sort: next, hidden }))}
      />
    </div>
  )
}

interface TableState {
  sort: string
  /** Columns that are left out. */
  hidden: readonly string[]
}

/** `<sort>.<hidden>~<hidden>` in the address. */
function stateOf(words: string): TableState {
  const [sort, hidden] = words.split(".")
  return { sort: sort || LONGEST_FIRST, hidden: hidden === undefined || hidden === "" ? [] : hidden.split("~") }
}

function textOf({ sort, hidden }: TableState): string {
  return hidden.length === 0 ? (sort === LONGEST_FIRST ? "" : sort) : `${sort}.${hidden.join("~")}`
}

/** Which columns are shown; that of names always is. */
function Chooser({ columns, hidden, onHide }: { columns: readonly TableColumn<number>[]; hidden: readonly string[]; onHide(hidden: string[]): void }): VNode {
  const left = columns.filter(({ id }) => hidden.includes(id)).length
  return (
    <details class="chooser">
      <summary>{left === 0 ? "Columns" : `Columns, ${left} hidden`}</summary>
      <div role="group" aria-label="columns that are shown">
        {columns.slice(1).map(({ id, title, hint }) => (
          <label key={id} title={hint}>
            <input
              type="checkbox"
              checked={!hidden.includes(id)}
              onChange={() => onHide(hidden.includes(id) ? hidden.filter((each) => each !== id) : [...hidden, id])}
            />
            {title}
          </label>
        ))}
        <button class="link" disabled={left === 0} onClick={() => onHide([])}>
          all
        </button>
      </div>
    </details>
  )
}

function sumOf(table: KernelsPart, rows: readonly number[]): string {
  const [whole, sum] = [table.time_ns, rows.map((at) => table.time_ns[at] as number)].map((times) => times.reduce((a, b) => a + b, 0))
  const share = rows.length === table.name.length ? "" : `, ${text(percent((sum as number) / (whole as number)))} of all`
  return `together ${text(time(sum))}${share}`
}

/** The columns that the recording has something for. */
function columnsOf(of: Profile, table: KernelsPart, rows: readonly number[]): TableColumn<number>[] {
  const largest = table.share.reduce<number>((most, share) => Math.max(most, share ?? 0), 0)
  const dark = isDark.value
  const color = (at: number): string => strongOf(hueOfKind(table.kind[at] ?? "k"), dark)
  // What is known of copies alone is not worth a column.
  const hasKernels = table.kind.includes("k")
  const known = (values: readonly unknown[]): boolean => values.some((value, at) => value !== null && (!hasKernels || table.kind[at] === "k"))
  const columns: TableColumn<number>[] = [kernelColumn(of, (at) => ({ name: table.name[at] as string, kind: table.kind[at] ?? "k" }))]
  const add = (list: readonly unknown[], spec: NumberColumn<number>): void => {
    if (known(list)) columns.push(numberColumn(rows, spec))
  }
  const number = (list: readonly (number | null)[], id: string, title: string, width: number, as: Measure, more: Partial<NumberColumn<number>> = {}): void =>
    add(list, { id, title, width, as, of: (at) => list[at], ...more })
  const quantile = (list: readonly (number[] | null)[], id: string): void =>
    add(list, { id, title: id, width: 104, as: TIME, of: (at) => list[at]?.[0], mark: (at) => estimateOf(list[at]) })
  const launch = (list: readonly (string | null)[], id: string, width: number): void => {
    if (known(list)) columns.push(wordColumn({ id, title: id, width, of: (at) => extent(list[at]), key: (at) => volume(list[at]) }))
  }
  number(table.time_ns, "time", "time", 100, TIME)
  number(table.share, "share", "share", 112, SHARE, { bar: { share: (at) => (largest > 0 ? (table.share[at] ?? 0) / largest : null), color } })
  number(table.count, "n", "n", 70, COUNT, { hint: "how often it ran" })
  const peak = "the least time that the hardware allows, as a share of the time it took"
  number(table.share_of_peak, "peak", "of peak", 122, SHARE, { hint: peak, least: (at) => table.peak_remark[at] ?? undefined, bar: { share: (at) => table.share_of_peak[at] ?? null, color } })
  number(table.headroom_ns, "save", "could save", 100, TIME, { hint: "time above the roof of the hardware" })
  if (known(table.bound)) columns.push(wordColumn({ id: "bound", title: "bound by", width: 80, of: (at) => table.bound[at] ?? MISSING, key: (at) => table.bound[at] ?? null }))
  quantile(table.p50_ns, "p50")
  quantile(table.p99_ns, "p99")
  number(table.flop_per_s, "flops", "FLOP/s", 120, amounts("FLOP/s"))
  number(table.byte_per_s, "bytes", "B/s", 110, amounts("B/s"))
  number(table.avg_ns, "avg", "avg", 96, TIME)
  number(table.min_ns, "min", "min", 96, TIME)
  number(table.max_ns, "max", "max", 96, TIME)
  launch(table.grid, "grid", 100)
  launch(table.block, "block", 84)
  number(table.regs, "regs", "registers", 84, COUNT, { hint: "of a thread" })
  number(table.shared, "shared", "shared", 92, MEMORY, { hint: "shared memory of a block" })
  number(table.occupancy, "occupancy", "occupancy", 96, SHARE, { hint: "share of a multiprocessor's warps that a launch may fill" })
  return columns
}

function extent(value: string | null | undefined): string {
  return value?.replaceAll("x", "×") ?? MISSING
}

/** How many blocks or threads an extent has. */
function volume(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : value.split("x").reduce((product, each) => product * Number(each), 1)
}
