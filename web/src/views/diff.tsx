/** Two profiles: what changed most, how sure that is, and which kernels are new or gone. */
import type { VNode } from "preact"
import { largestChange } from "../layout/diff_bar"
import { baseName, cutMiddle, printable } from "../names"
import { type DiffPart, type DiffSide, diffOf } from "../parts/diff"
import { matcher, page, profile, profileIndex, selectKernel, selectRow, selectedKernel, selectedRow, setZoom, zoom } from "../state"
import { count, moment, percent, text, time } from "../units"
import { Choice } from "./choice"
import "./diff.css"
import { Bar, type DiffRow as Row, Launches, Name, Sure, VerdictMark, changeOf, countsText, halfShare, halfTime, nameOf, shownName, signedText, toneOf } from "./diff_cells"
import { Num } from "./number"
import { Table, type TableColumn, orderOf, stepFrom } from "./table"
import type { View } from "./view"

const ID = "diff"
const LARGEST_FIRST = "-size"
type Of = "kernels" | "scopes" | "new" | "gone"

export const diff: View = {
  id: ID,
  title: "Diff",
  key: "9",
  isPresent: (current) => diffOf(current) !== null,
  Component: Diff,
  onKey,
}

/** `<list>.<sort>` in the address. */
function stateOf(part: DiffPart): { of: Of; sort: string } {
  const [word, sort] = (zoom.value[ID] ?? "").split(".")
  const of = (["kernels", "scopes", "new", "gone"] as const).find((each) => each === word)
  return { of: of !== undefined && part[of].length > 0 ? of : "kernels", sort: sort || LARGEST_FIRST }
}

function Diff(): VNode | null {
  const part = page.value === null ? null : diffOf(page.value)
  if (part === null) return null
  const { of, sort } = stateOf(part)
  const rows = rowsOf(part, of)
  const lists = (["kernels", "scopes", "new", "gone"] as const).filter((each) => part[each].length > 0 || each === "kernels")
  return (
    <div class="diff-view">
      <Told part={part} />
      <div class="toolbar">
        <Choice
          label="what to list"
          options={lists.map((each) => ({ id: each, title: listTitle(part, each) }))}
          value={of}
          onPick={(id) => setZoom(ID, `${id}.${sort}`)}
        />
        {of === "scopes" && part.more_scopes > 0 ? <span class="quiet">the {part.scopes.length} that changed most</span> : null}
        <span class="gap" />
        <span class="quiet">{sumOf(rows)}</span>
      </div>
      <Table
        label="changes"
        columns={columnsOf(part, of)}
        rows={rows}
        idOf={idOf}
        isSelected={isSelected}
        onSelect={select}
        sort={sort}
        onSort={(next) => setZoom(ID, `${of}.${next}`)}
      />
      <p class="quiet note">
        ± is an interval of {Math.round(100 * part.confidence)} % confidence for runs like the recorded ones. Recordings made at other times may differ by more:
        repeat them to be sure.
      </p>
    </div>
  )
}

const TITLES: Record<Of, string> = { kernels: "In both", scopes: "Scopes", new: "New", gone: "Gone" }

/** How many there are; of new and gone kernels also how much time they are. */
function listTitle(part: DiffPart, of: Of): string {
  const many = part[of].length + (of === "scopes" ? part.more_scopes : 0)
  const sum = part[of].reduce((total, row) => total + row.change_ns, 0)
  const much = of === "new" || of === "gone" ? `  ${signedText(time(sum), sum)}` : ""
  return `${TITLES[of]} ${many}${much}`
}

/** The whole in one line: before, after, and by how much. */
function Told({ part }: { part: DiffPart }): VNode {
  const { total } = part
  const share = total.before === null || !(total.before.total_ns > 0) ? null : total.change_ns / total.before.total_ns
  return (
    <div class="diff-head">
      <Side title="before" of={part.before} total={total.before?.total_ns ?? null} />
      <span class="arrow">→</span>
      <Side title="after" of={part.after} total={total.after?.total_ns ?? null} />
      <div class={`side total ${toneOf(total)}`}>
        <strong>
          {signedText(time(total.change_ns), total.change_ns)} {share === null ? "" : `(${signedText(percent(share), share)})`}
        </strong>
        <span>{total.half_width_ns === null ? "all kernels" : `all kernels, ± ${text(time(total.half_width_ns))}`}</span>
      </div>
      {part.notes.map((note) => (
        <p class="bad" key={note}>
          ! {printable(note)}
        </p>
      ))}
    </div>
  )
}

function Side({ title, of, total }: { title: string; of: DiffSide; total: number | null }): VNode {
  return (
    <div class="side" title={printable(of.source)}>
      <strong>{text(time(total))}</strong>
      <span>
        {title}: {cutMiddle(printable(baseName(of.source)), 40)} <span class="quiet">{moment(of.start_time_ns)}</span>
      </span>
    </div>
  )
}

function rowsOf(part: DiffPart, of: Of): Row[] {
  const fits = matcher.value
  const all: Row[] = part[of]
  return fits === null ? all : all.filter((row) => fits(nameOf(row)) || fits(shownName(row)))
}

function sumOf(rows: readonly Row[]): string {
  const slower = rows.reduce((sum, row) => sum + Math.max(row.change_ns, 0), 0)
  const faster = rows.reduce((sum, row) => sum + Math.min(row.change_ns, 0), 0)
  return `longer ${signedText(time(slower), slower)}, shorter ${signedText(time(faster), faster)}`
}

const PER_RUN: TableColumn<Row> = {
  id: "per",
  title: "of a run",
  hint: "change of the time of one run, with its interval of confidence",
  width: 120,
  unit: 1.2,
  key: (row) => row.per_run,
  cell: (row) => <Sure of={changeOf(row.per_run)} value={row.per_run ?? 0} half={halfShare(row)} tone={toneOf(row)} />,
}

function columnsOf(part: DiffPart, of: Of): TableColumn<Row>[] {
  const largest = largestChange(part[of])
  const isBoth = of === "kernels" || of === "scopes"
  const name: TableColumn<Row> = {
    id: "name",
    title: of === "scopes" ? "scope" : "kernel",
    isText: true,
    key: (row) => shownName(row).toLowerCase(),
    cell: (row) => <Name of={row} />,
  }
  const change: TableColumn<Row> = {
    id: "size",
    title: "change",
    hint: "of the total time, with its interval of confidence; sorted by its size, whichever way",
    width: 142,
    key: (row) => Math.abs(row.change_ns),
    cell: (row) => <Sure of={time(row.change_ns)} value={row.change_ns} half={halfTime(row)} tone={toneOf(row)} />,
  }
  const bar: TableColumn<Row> = { id: "bar", title: "faster ◂ ▸ slower", width: 140, isText: true, cell: (row) => <Bar of={row} largest={largest} /> }
  if (!isBoth) {
    const side = of === "new" ? "after" : "before"
    return [
      name,
      change,
      bar,
      { id: "n", title: "n", width: 84, isWhole: true, unit: 0, key: (row) => row[side]?.count ?? null, cell: (row) => <Num of={count(row[side]?.count)} /> },
      { id: "run", title: "a run", width: 96, key: (row) => row[side]?.mean_ns ?? null, cell: (row) => <Num of={time(row[side]?.mean_ns)} /> },
    ]
  }
  const all: Row[] = part[of]
  return [
    name,
    { id: "verdict", title: "verdict", width: 86, isText: true, key: (row) => row.verdict, cell: (row) => <VerdictMark of={row} /> },
    change,
    bar,
    ...(of === "kernels" ? [PER_RUN] : []),
    { id: "before", title: "before", width: 84, key: (row) => row.before?.total_ns ?? null, cell: (row) => <Num of={time(row.before?.total_ns)} /> },
    { id: "after", title: "after", width: 84, key: (row) => row.after?.total_ns ?? null, cell: (row) => <Num of={time(row.after?.total_ns)} /> },
    { id: "n", title: "n", hint: "runs, before and after where they differ", width: 84, key: (row) => row.after?.count ?? null, cell: (row) => countsText(row) },
    ...(of === "kernels" && all.some((row) => row.before?.count !== row.after?.count)
      ? [{ id: "runs", title: "by runs", hint: "the part of the change that came from running more or less often", width: 92, key: (row: Row) => row.by_runs_ns, cell: (row: Row) => <Sure of={time(row.by_runs_ns)} value={row.by_runs_ns ?? 0} half="" tone="" /> }]
      : []),
    ...(of === "kernels" && part.kernels.some((row) => Object.keys(row.launches).length > 0)
      ? [{ id: "launch", title: "launched differently", width: 220, isText: true, cell: (row: Row) => <Launches of={row} /> }]
      : []),
  ]
}

function idOf(row: Row): string {
  return "path" in row ? `${row.before_row} ${row.after_row}` : row.name
}

function isSelected(row: Row): boolean {
  if ("path" in row) return selectedRow.value !== null && selectedRow.value === (profileIndex.value === 0 ? row.before_row : row.after_row)
  return row.name === selectedKernel.value
}

/** The selection is one of a profile: that is shown which has it, the second rather than the first. */
function select(row: Row): void {
  if (!("path" in row)) {
    selectKernel(row.name)
    if (profile.value !== null && profile.value.rowsOfKernel(row.name).length === 0) profileIndex.value = row.after === null ? 0 : 1
    return
  }
  if ((profileIndex.value === 0 ? row.before_row : row.after_row) < 0) profileIndex.value = row.after_row < 0 ? 0 : 1
  selectRow(profileIndex.value === 0 ? row.before_row : row.after_row)
}

function onKey(event: KeyboardEvent): boolean {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  const part = page.value === null ? null : diffOf(page.value)
  if (step === 0 || part === null) return false
  const { of, sort } = stateOf(part)
  const next = stepFrom(orderOf(rowsOf(part, of), columnsOf(part, of), sort), isSelected, step)
  if (next !== null) select(next)
  return true
}
