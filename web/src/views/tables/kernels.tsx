/** Every kernel and copy in one table that any column sorts. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import type { KernelsPart } from "../../schema"
import { fittingNames, isDark, profile, search, selectKernel, selectedKernel, setZoom, zoom } from "../../state"
import { amount, count, percent, text, time } from "../../units"
import { BarCell, KernelName, Num, Quantile } from "../widgets/facts"
import { Table, type TableColumn, lettersIn } from "../widgets/table"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "kernels"
const LONGEST_FIRST = "-time"

export const kernels: View = {
  id: ID,
  title: "Kernels",
  key: "3",
  isPresent: (_page, shown) => shown.parts.kernels !== null,
  Component: Kernels,
}

function Kernels(): VNode | null {
  const shown = profile.value
  const table = shown === null ? null : shown.parts.kernels
  if (shown === null || table === null) return null
  const rows = fittingNames(shown, table.name)
  return (
    <div class="kernels-view">
      <div class="toolbar">
        <span>
          <strong>{text(count(rows.length))}</strong>
          {search.value.trim() === "" ? "" : ` of ${text(count(table.name.length))}`} kernels and copies
        </span>
        <span class="gap" />
        <span class="quiet">{sumOf(table, rows)}</span>
      </div>
      <Table
        label="kernels"
        columns={columnsOf(shown, table)}
        rows={rows}
        idOf={String}
        isSelected={(at) => table.name[at] === selectedKernel.value}
        onSelect={(at) => selectKernel(table.name[at] as string)}
        sort={zoom.value[ID] ?? LONGEST_FIRST}
        onSort={(sort) => setZoom(ID, sort)}
      />
    </div>
  )
}

function sumOf(table: KernelsPart, rows: readonly number[]): string {
  const [whole, sum] = [table.time_ns, rows.map((at) => table.time_ns[at] as number)].map((times) => times.reduce((a, b) => a + b, 0))
  const share = rows.length === table.name.length ? "" : `, ${text(percent((sum as number) / (whole as number)))} of all`
  return `together ${text(time(sum))}${share}`
}

/** The columns that the recording has something for. */
function columnsOf(of: Profile, table: KernelsPart): TableColumn<number>[] {
  const largest = table.share.reduce<number>((most, share) => Math.max(most, share ?? 0), 0)
  const dark = isDark.value
  const colorOf = (at: number): string => strongOf(hueOfKind(table.kind[at] ?? "k"), dark)
  // What is known of copies alone is not worth a column.
  const hasKernels = table.kind.includes("k")
  const known = (values: readonly unknown[]): boolean => values.some((value, at) => value !== null && (!hasKernels || table.kind[at] === "k"))
  const numbers = (list: readonly (number | null)[]) => (at: number): number | null => list[at] ?? null
  const middle = (list: readonly (number[] | null)[]) => (at: number): number | null => list[at]?.[0] ?? null
  const words = (list: readonly (string | null)[]) => (at: number): string | null => list[at] ?? null
  const all: (TableColumn<number> & { isKnown?: boolean })[] = [
    {
      id: "name",
      title: "kernel",
      isText: true,
      key: (at) => of.shown(table.name[at] as string).toLowerCase(),
      cell: (at, room) => <KernelName of={of} name={table.name[at] as string} kind={table.kind[at] ?? "k"} letters={lettersIn(room)} />,
    },
    { id: "time", title: "time", width: 92, key: numbers(table.time_ns), cell: (at) => <Num of={time(table.time_ns[at])} /> },
    {
      id: "share",
      title: "share",
      width: 106,
      unit: 1.2,
      key: numbers(table.share),
      cell: (at) => <BarCell share={largest > 0 ? (table.share[at] ?? 0) / largest : null} color={colorOf(at)} of={percent(table.share[at])} />,
    },
    { id: "n", title: "n", hint: "how often it ran", width: 70, isWhole: true, unit: 0, key: numbers(table.count), cell: (at) => <Num of={count(table.count[at])} /> },
    { id: "p50", title: "p50", width: 86, isKnown: known(table.p50_ns), key: middle(table.p50_ns), cell: (at) => <Quantile of={table.p50_ns[at]} /> },
    { id: "p99", title: "p99", width: 86, isKnown: known(table.p99_ns), key: middle(table.p99_ns), cell: (at) => <Quantile of={table.p99_ns[at]} /> },
    { id: "flops", title: "FLOP/s", width: 106, unit: 7, isKnown: known(table.flop_per_s), key: numbers(table.flop_per_s), cell: (at) => <Num of={amount(table.flop_per_s[at], "FLOP/s")} /> },
    { id: "bytes", title: "B/s", width: 96, unit: 4.2, isKnown: known(table.byte_per_s), key: numbers(table.byte_per_s), cell: (at) => <Num of={amount(table.byte_per_s[at], "B/s")} /> },
    {
      id: "peak",
      title: "of peak",
      hint: "the least time that the hardware allows, as a share of the time it took",
      width: 122,
      unit: 1.2,
      isKnown: known(table.share_of_peak),
      key: numbers(table.share_of_peak),
      cell: (at) => <BarCell share={table.share_of_peak[at] ?? null} color={colorOf(at)} of={percent(table.share_of_peak[at])} />,
    },
    { id: "bound", title: "bound by", width: 80, isText: true, isKnown: known(table.bound), key: words(table.bound), cell: (at) => table.bound[at] ?? "–" },
    { id: "save", title: "could save", hint: "time above the roof of the hardware", width: 92, isKnown: known(table.headroom_ns), key: numbers(table.headroom_ns), cell: (at) => <Num of={time(table.headroom_ns[at])} /> },
    { id: "avg", title: "avg", width: 86, key: numbers(table.avg_ns), cell: (at) => <Num of={time(table.avg_ns[at])} /> },
    { id: "min", title: "min", width: 86, isKnown: known(table.min_ns), key: numbers(table.min_ns), cell: (at) => <Num of={time(table.min_ns[at])} /> },
    { id: "max", title: "max", width: 86, isKnown: known(table.max_ns), key: numbers(table.max_ns), cell: (at) => <Num of={time(table.max_ns[at])} /> },
    { id: "grid", title: "grid", width: 100, isText: true, isKnown: known(table.grid), key: (at) => volume(table.grid[at]), cell: (at) => extent(table.grid[at]) },
    { id: "block", title: "block", width: 84, isText: true, isKnown: known(table.block), key: (at) => volume(table.block[at]), cell: (at) => extent(table.block[at]) },
    { id: "regs", title: "registers", hint: "of a thread", width: 84, isWhole: true, unit: 0, isKnown: known(table.regs), key: numbers(table.regs), cell: (at) => <Num of={count(table.regs[at])} /> },
    { id: "shared", title: "shared", hint: "shared memory of a block", width: 86, isKnown: known(table.shared), key: numbers(table.shared), cell: (at) => <Num of={amount(table.shared[at], "B")} /> },
    { id: "occupancy", title: "occupancy", hint: "share of a multiprocessor's warps that a launch may fill", width: 96, unit: 1.2, isKnown: known(table.occupancy), key: numbers(table.occupancy), cell: (at) => <Num of={percent(table.occupancy[at])} /> },
  ]
  return all.filter((column) => column.isKnown !== false)
}


function extent(value: string | null | undefined): string {
  return value?.replaceAll("x", "×") ?? "–"
}

/** How many blocks or threads an extent has. */
function volume(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : value.split("x").reduce((product, each) => product * Number(each), 1)
}
