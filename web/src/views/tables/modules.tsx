/** The work of a program by module, operator, kernel or line; what lies in one of them leads on to the others. */
import type { VNode } from "preact"
import { BY, type By, type Within, type WorkRow, groupWork, sumOf } from "../../layout/work"
import type { Profile } from "../../model"
import { cutMiddle } from "../../names"
import type { WorkPart } from "../../schema"
import { fittingNames, profile, search, setZoom, zoom } from "../../state"
import { count, text, time } from "../../units"
import { Choice } from "../widgets/facts"
import { Swatch } from "../widgets/label"
import { Table } from "../widgets/table"
import type { View } from "../widgets/view"
import { KINDS, TITLES, selectWork, selectedName, workColumns, workName } from "../widgets/work_columns"
import "./tables.css"

const ID = "modules"
const LONGEST_FIRST = "-time"

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
        columns={workColumns(shown, part, look.by, rows)}
        rows={rows}
        idOf={(row) => String(row.name)}
        isSelected={isSelected}
        onSelect={(row) => selectWork(shown, look.by, raw(row))}
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
            {cutMiddle(workName(of, part, by, name), 48)} ×
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
      <strong>{cutMiddle(workName(of, part, look.by, picked.name), 60)}</strong>
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
