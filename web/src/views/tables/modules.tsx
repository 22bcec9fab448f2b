/** The work of a program by module, operator, kernel or line; what lies in one of them leads on to the others. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import { BY, type By, type Within, type WorkRow, groupWork, sumOf } from "../../layout/work"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { FrameKind, WorkPart } from "../../schema"
import { fittingNames, isDark, metric, profile, search, selectKernel, selectRow, selectedKernel, selectedRow, setZoom, zoom } from "../../state"
import { count, text, time } from "../../units"
import { COUNT, SHARE, TIME, type TableColumn, numberColumn } from "../widgets/columns"
import { Choice, shortName } from "../widgets/facts"
import { Swatch } from "../widgets/label"
import { Table } from "../widgets/table"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "modules"
const LONGEST_FIRST = "-time"
const KINDS: Record<By, FrameKind> = { module: "m", op: "o", kernel: "k", line: "p" }
const TITLES: Record<By, string> = { module: "Modules", op: "Operators", kernel: "Kernels", line: "Lines" }
const OUTSIDE: Record<By, string> = { module: "outside of modules", op: "outside of operators", kernel: "", line: "outside of the program's lines" }
const PHASES = ["forward", "backward", "recompute"] as const
const HINTS = ["", "what the backward pass did for it", "what checkpointing did again"]

export const modules: View = {
  id: ID,
  title: "Modules",
  key: "o",
  isPresent: (_page, shown) => shown.parts.work !== null,
  hits: (_page, shown) => {
    const { work } = shown.parts
    if (work === null) return null
    const look = readLook(work, zoom.value[ID] ?? "")
    return [rowsOf(shown, work, look).length, TITLES[look.by].toLowerCase()]
  },
  Component: Modules,
}

/** What the view remembers: `op|-time|module=net.0`, names as the address writes them. */
interface Look {
  by: By
  sort: string
  within: Within
}

function readLook(part: WorkPart, words: string): Look {
  const [by, sort, ...filters] = words.split("|")
  const within: Partial<Record<By, number>> = {}
  for (const filter of filters) {
    const at = filter.indexOf("=")
    const kind = BY.find((each) => each === filter.slice(0, at))
    const name = part.names.indexOf(nameIn(filter.slice(at + 1)))
    if (kind !== undefined && name >= 0) within[kind] = name
  }
  return { by: BY.find((each) => each === by) ?? firstOf(part), sort: sort || LONGEST_FIRST, within }
}

function nameIn(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word // somebody wrote it by hand
  }
}

/** Modules, or operators where no module was recorded. */
function firstOf(part: WorkPart): By {
  const shown = profile.value
  return shown !== null && shown.column(part.module).some((name) => name !== 0) ? "module" : "op"
}

function change(part: WorkPart, to: Partial<Look>, step = false): void {
  const { by, sort, within } = { ...readLook(part, zoom.value[ID] ?? ""), ...to }
  const filters = BY.flatMap((each) => (within[each] === undefined ? [] : [`${each}=${encodeURIComponent(part.names[within[each]] ?? "")}`]))
  const words = [by, sort, ...filters].join("|")
  setZoom(ID, words === `${firstOf(part)}|${LONGEST_FIRST}` ? "" : words, step)
}

/** The rows of the table that fit the search. */
function rowsOf(of: Profile, part: WorkPart, { by, within }: Look): WorkRow[] {
  const rows = groupWork(part, of.column, by, within)
  const fitting = new Set(fittingNames(of, part.names))
  return search.value.trim() === "" ? rows : rows.filter(({ name }) => name !== 0 && fitting.has(name))
}

function Modules(): VNode | null {
  const shown = profile.value
  const part = shown === null ? null : shown.parts.work
  if (shown === null || part === null) return null
  const look = readLook(part, zoom.value[ID] ?? "")
  const rows = rowsOf(shown, part, look)
  const hasAny = (by: By): boolean => shown.column(part[by]).some((name) => name !== 0)
  const raw = ({ name }: WorkRow): string => part.names[name] ?? ""
  const isSelected = (row: WorkRow): boolean => row.name !== 0 && raw(row) === selectedName(shown, look.by)
  return (
    <div class="kernels-view modules-view">
      <div class="toolbar">
        <Choice
          label="what a row stands for"
          options={BY.filter(hasAny).map((by) => ({ id: by, title: TITLES[by] }))}
          value={look.by}
          onPick={(id) => change(part, { by: id as By })}
        />
        <Filters of={shown} part={part} look={look} />
        <span class="gap" />
        <span class="quiet">{sumText(rows)}</span>
      </div>
      <Onward of={shown} part={part} look={look} picked={rows.find(isSelected)} />
      <Table
        label={TITLES[look.by].toLowerCase()}
        columns={columnsOf(shown, part, look.by, rows)}
        rows={rows}
        idOf={(row) => String(row.name)}
        isSelected={isSelected}
        onSelect={(row) => select(shown, look.by, raw(row))}
        sort={look.sort}
        onSort={(sort) => change(part, { sort })}
      />
    </div>
  )
}

/** What the table is narrowed to; a click on it lifts that. */
function Filters({ of, part, look }: { of: Profile; part: WorkPart; look: Look }): VNode {
  return (
    <>
      {BY.filter((by) => look.within[by] !== undefined).map((by) => {
        const { [by]: name = 0, ...others } = look.within
        return (
          <button key={by} class="chip" title="show all again" onClick={() => change(part, { within: others }, true)}>
            in <Swatch kind={KINDS[by]} />
            {cutMiddle(nameOf(of, part, by, name), 48)} ×
          </button>
        )
      })}
    </>
  )
}

/** From the selected row on to what lies in it. */
function Onward({ of, part, look, picked }: { of: Profile; part: WorkPart; look: Look; picked: WorkRow | undefined }): VNode {
  if (picked === undefined) return <p class="quiet onward">select a row to see what lies in it</p>
  const within = { ...look.within, [look.by]: picked.name }
  const ways = BY.filter((by) => by !== look.by && groupWork(part, of.column, by, within).some(({ name }) => name !== 0))
  return (
    <p class="onward">
      <span class="quiet">in </span>
      <strong>{cutMiddle(nameOf(of, part, look.by, picked.name), 60)}</strong>
      <span class="quiet">: </span>
      {ways.map((by) => (
        <button key={by} class="link" onClick={() => change(part, { by, within }, true)}>
          {TITLES[by].toLowerCase()}
        </button>
      ))}
    </p>
  )
}

function sumText(rows: readonly WorkRow[]): string {
  const [gpu, cpu] = [rows.reduce((sum, row) => sum + sumOf(row.time), 0), rows.reduce((sum, row) => sum + sumOf(row.cpu), 0)]
  const parts = [gpu > 0 ? `${text(time(gpu))} on the GPU` : "", cpu > 0 ? `${text(time(cpu))} on the CPU` : ""].filter((each) => each !== "")
  return `${text(count(rows.length))} rows${parts.length === 0 ? "" : `, together ${parts.join(", ")}`}`
}

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

function select(of: Profile, by: By, raw: string): void {
  if (by === "kernel") return selectKernel(raw)
  const row = contextOf(of, by, raw)
  if (row !== null) selectRow(row)
}

/** The name that is selected, of what rows stand for; null where something else is. */
function selectedName(of: Profile, by: By): string | null {
  if (by === "kernel") return selectedKernel.value
  const row = selectedRow.value
  return row !== null && of.kind(row) === KINDS[by] ? of.rawName(row) : null
}

function nameOf(of: Profile, part: WorkPart, by: By, name: number): string {
  const raw = part.names[name] ?? ""
  if (name === 0) return OUTSIDE[by]
  const row = by === "line" ? contextOf(of, by, raw) : null
  return printable(row === null ? of.shown(raw) : shortName(of, row))
}

/** The columns that the recording has something for. */
function columnsOf(of: Profile, part: WorkPart, by: By, rows: readonly WorkRow[]): TableColumn<WorkRow>[] {
  const hasGpu = rows.some((row) => sumOf(row.time) > 0)
  const split = (row: WorkRow): WorkRow["time"] => (hasGpu ? row.time : row.cpu)
  const whole = rows.reduce((sum, row) => sum + sumOf(split(row)), 0)
  const largest = rows.reduce((most, row) => Math.max(most, sumOf(split(row))), 0)
  const color = strongOf(hueOfKind(KINDS[by]), isDark.value)
  const known = (value: number): number | null => (value === 0 ? null : value)
  const name = (row: WorkRow): string => nameOf(of, part, by, row.name)
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
    const hint = "of operators, without those inside"
    columns.push(numberColumn(rows, { id: "cpu", title: "CPU time", width: 94, as: TIME, of: (row) => known(sumOf(row.cpu)), hint }))
  }
  if (rows.some((row) => row.calls > 0)) {
    const title = by === "op" ? "calls" : "operator calls"
    columns.push(numberColumn(rows, { id: "calls", title, width: by === "op" ? 80 : 116, as: COUNT, of: (row) => known(row.calls), hint: "of the forward pass and of what was recomputed" }))
  }
  return columns
}
