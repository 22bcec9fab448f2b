/** Two profiles: what changed most, how sure that is, and which kernels are new or gone. */
import type { VNode } from "preact"
import { largestChange } from "../../layout/diff_bar"
import { baseName, printable } from "../../names"
import type { DiffPart, DiffSide } from "../../schema"
import { hidesLibrary, matcher, page, profile, profileIndex, regroup, selectKernel, selectRow, selectedKernel, selectedRow, setZoom, view, zoom } from "../../state"
import { grouped, inScale, moment, plain, text, time, timeScale } from "../../units"
import { COUNT, type NumberColumn, TIME, type TableColumn, numberColumn, wordColumn } from "../widgets/columns"
import { Choice, LibrarySwitch } from "../widgets/facts"
import { Table } from "../widgets/table"
import type { View } from "../widgets/view"
import {
  Bar,
  type DiffRow as Row,
  type Measure,
  Sure,
  VerdictMark,
  changeOf,
  countsText,
  halfShare,
  halfTime,
  isLeftOut,
  launchesText,
  measured,
  nameOf,
  perRun,
  shownName,
  signedText,
  sureText,
  toneOf,
  wholeName,
} from "./cells"
import "./diff.css"

const ID = "diff"
const LARGEST_FIRST = "-size"
type Of = "kernels" | "scopes" | "new" | "gone"

export const diff: View = {
  id: ID,
  title: "Diff",
  key: "9",
  isPresent: (current) => current.diff !== null,
  hits: (current) => {
    if (current.diff === null) return null
    const { of } = stateOf(current.diff)
    return [rowsOf(current.diff, of).length, of === "scopes" ? "scopes" : "kernels"]
  },
  Component: Diff,
  onKey: (event) => {
    if (event.key !== "l" || page.value?.profiles.every((each) => each.parts.library === null) === true) return false
    regroup({ hidesLibrary: !hidesLibrary.value })
    return true
  },
  keys: [["l", "hide library frames in the paths of scopes, or show them"]],
}

interface DiffState {
  of: Of
  sort: string
  by: Measure
}

/** `<list>.<sort>.<measure>` in the address. */
function stateOf(part: DiffPart): DiffState {
  const [word, sort, by] = (zoom.value[ID] ?? "").split(".")
  const of = (["kernels", "scopes", "new", "gone"] as const).find((each) => each === word)
  const usual = part.runs_ratio === 1 ? "total" : "speed"
  return {
    of: of !== undefined && part[of].length > 0 ? of : part.is_host ? "scopes" : "kernels",
    sort: sort || LARGEST_FIRST,
    by: by === "total" || by === "speed" ? by : usual,
  }
}

function Diff(): VNode | null {
  const part = page.value?.diff ?? null
  if (part === null) return null
  const state = stateOf(part)
  const { of, sort, by } = state
  const go = (to: Partial<DiffState>): void => {
    const next = { ...state, ...to }
    setZoom(ID, `${next.of}.${next.sort}.${next.by}`)
  }
  const rows = rowsOf(part, of)
  const lists = (["kernels", "scopes", "new", "gone"] as const).filter((each) => part[each].length > 0 || each === (part.is_host ? "scopes" : "kernels"))
  const frames = (page.value?.profiles ?? []).reduce((most, each) => Math.max(most, each.parts.library?.frames ?? 0), 0)
  const areRunsEqual = part.kernels.every((row) => row.before?.count === row.after?.count)
  return (
    <div class="diff-view">
      <Told part={part} by={by} />
      <div class="toolbar">
        <Choice
          label="what to list"
          options={lists.map((each) => ({ id: each, title: listTitle(part, each) }))}
          value={of}
          onPick={(id) => go({ of: id as Of })}
        />
        {areRunsEqual ? null : (
          <Choice
            label="what to compare"
            options={[
              { id: "speed", title: "At equal runs", hint: "what the change would be if everything ran as often as before" },
              { id: "total", title: "Total", hint: "all the time, however often it ran" },
            ]}
            value={by}
            onPick={(id) => go({ by: id === "speed" ? "speed" : "total" })}
          />
        )}
        {of === "scopes" && part.more_scopes > 0 ? <span class="quiet">the {part.scopes.length} that changed most</span> : null}
        {of === "scopes" && frames > 0 ? <LibrarySwitch many={`${grouped(frames)} frames`} onPress={() => regroup({ hidesLibrary: !hidesLibrary.value })} /> : null}
        <span class="gap" />
        <span class="quiet">{sumOf(rows, by)}</span>
        <button class="link" title="every path of the second profile, in colours that tell what changed" onClick={showFlame}>
          as a flame graph
        </button>
      </div>
      <Table
        label="changes"
        columns={columnsOf(part, of, by, rows)}
        rows={rows}
        idOf={idOf}
        isSelected={isSelected}
        onSelect={select}
        sort={sort}
        onSort={(next) => go({ sort: next })}
      />
      {hasVerdicts(part[of]) ? null : (
        <p class="quiet note">No verdicts: these files do not say how single runs spread, so nothing tells a change from chance. Record with proton, or a trace.</p>
      )}
      <p class="quiet note">
        ± is an interval of {Math.round(100 * part.confidence)} % confidence for runs like the recorded ones. Recordings made at other times may differ by more:
        repeat them to be sure.
      </p>
    </div>
  )
}

function showFlame(): void {
  profileIndex.value = 1
  view.value = "flame"
  setZoom("flame", "d", true)
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
function Told({ part, by }: { part: DiffPart; by: Measure }): VNode {
  const { total, runs_ratio: ratio } = part
  const [change, half] = measured(total, by)
  const whole = by === "speed" ? total.expected_ns : (total.before?.total_ns ?? null)
  const share = whole === null || !(whole > 0) ? null : change / whole
  const what = part.is_host ? "on the host" : by === "speed" && ratio !== 1 ? `all kernels, at ${text(plain(ratio))} times the runs` : "all kernels"
  return (
    <div class="diff-head">
      <Side title="before" of={part.before} total={total.before?.total_ns ?? null} />
      <span class="arrow">→</span>
      <Side title="after" of={part.after} total={total.after?.total_ns ?? null} />
      <div class={`side total ${toneOf(total, change)}`}>
        <strong>
          {signedText(time(change), change)} {share === null ? "" : `(${signedText(changeOf(share), share)})`}
        </strong>
        <span>
          {what}
          {half === null ? "" : `, ± ${text(time(half))}`}
        </span>
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
        {title}: {printable(baseName(of.source))} <span class="quiet">{moment(of.start_time_ns)}</span>
      </span>
    </div>
  )
}

function rowsOf(part: DiffPart, of: Of): Row[] {
  const fits = matcher.value
  const all: Row[] = (part[of] as Row[]).filter((row) => !isLeftOut(row))
  return fits === null ? all : all.filter((row) => fits(nameOf(row)) || fits(shownName(row)))
}

function sumOf(rows: readonly Row[], by: Measure): string {
  const changes = rows.map((row) => measured(row, by)[0])
  const slower = changes.reduce((sum, change) => sum + Math.max(change, 0), 0)
  const faster = changes.reduce((sum, change) => sum + Math.min(change, 0), 0)
  return `longer ${signedText(time(slower), slower)}, shorter ${signedText(time(faster), faster)}`
}

const PER_RUN: TableColumn<Row> = {
  id: "per",
  title: "of a run",
  hint: "change of the time of one run, with its interval of confidence",
  width: 114,
  key: perRun,
  cell: (row) => <Sure of={changeOf(perRun(row))} value={perRun(row) ?? 0} half={halfShare(row)} tone={toneOf(row)} />,
  words: (row) => sureText(changeOf(perRun(row)), perRun(row) ?? 0, halfShare(row)),
  raw: (row) => {
    const change = perRun(row)
    return change === null ? null : 100 * change
  },
  rawUnit: "%",
}

const VERDICT: TableColumn<Row> = {
  id: "verdict",
  title: "verdict",
  width: 82,
  isText: true,
  key: (row) => row.verdict,
  cell: (row) => <VerdictMark of={row} />,
  words: (row) => row.verdict,
}

/** Whether anything can be said of chance. */
function hasVerdicts(rows: readonly Row[]): boolean {
  return rows.length === 0 || rows.some((row) => row.verdict !== "not enough")
}

/** The change of all runs together, in one unit. */
function changeColumn(all: readonly Row[], by: Measure): TableColumn<Row> {
  const scale = timeScale(all.map((row) => measured(row, by)[0]))
  const half = (row: Row): string => halfTime(measured(row, by)[1], scale)
  const change = (row: Row): number => measured(row, by)[0]
  return {
    id: "size",
    title: "change",
    hint: `of the total time${by === "speed" ? " at equal runs" : ""}, with its interval of confidence; sorted by its size, whichever way`,
    width: 138,
    key: (row) => Math.abs(change(row)),
    cell: (row) => <Sure of={inScale(change(row), scale)} value={change(row)} half={half(row)} tone={toneOf(row, change(row))} />,
    words: (row) => sureText(inScale(change(row), scale), change(row), half(row)),
    raw: change,
    rawUnit: "ns",
  }
}

function columnsOf(part: DiffPart, of: Of, by: Measure, rows: readonly Row[]): TableColumn<Row>[] {
  const all: Row[] = part[of]
  const largest = largestChange(all.map((row) => measured(row, by)))
  const isBoth = of === "kernels" || of === "scopes"
  const name: TableColumn<Row> = {
    id: "name",
    title: of === "scopes" ? "scope" : "kernel",
    isText: true,
    key: (row) => shownName(row).toLowerCase(),
    name: shownName,
    whole: wholeName,
  }
  const change = changeColumn(all, by)
  const bar: TableColumn<Row> = { id: "bar", title: "faster | slower", width: 118, isText: true, cell: (row) => <Bar of={row} by={by} largest={largest} /> }
  const number = (spec: NumberColumn<Row>): TableColumn<Row> => numberColumn(rows, spec)
  if (!isBoth) {
    const side = of === "new" ? "after" : "before"
    return [
      name,
      change,
      bar,
      number({ id: "n", title: "n", width: 84, as: COUNT, of: (row) => row[side]?.count }),
      number({ id: "run", title: "a run", width: 96, as: TIME, of: (row) => row[side]?.mean_ns }),
    ]
  }
  const areRunsEqual = all.every((row) => row.before?.count === row.after?.count)
  return [
    name,
    ...(hasVerdicts(all) ? [VERDICT] : []),
    change,
    bar,
    ...(of === "kernels" ? [PER_RUN] : []),
    number({ id: "before", title: "before", width: 96, as: TIME, of: (row) => row.before?.total_ns }),
    number({ id: "after", title: "after", width: 96, as: TIME, of: (row) => row.after?.total_ns }),
    { id: "n", title: "n", hint: "runs, before and after where they differ", width: areRunsEqual ? 76 : 108, key: (row) => row.after?.count ?? null, cell: (row) => countsText(row), words: countsText },
    ...(of === "kernels" && part.kernels.some((row) => Object.keys(row.launches).length > 0)
      ? [wordColumn<Row>({ id: "launch", title: "launched differently", width: 220, of: launchesText })]
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
