/** Autotuning: the configurations that were tried, what each cost, and by how much the winner won. */
import type { VNode } from "preact"
import { strongOf } from "../../draw/colors"
import { printable } from "../../names"
import type { AutotunePart, TunedConfig, TuningRun } from "../../schema"
import { isDark, matcher, profile, selectRow, setZoom, zoom } from "../../state"
import { MISSING, percent, plain, text, time } from "../../units"
import { COUNT, MEMORY, type Measure, type NumberColumn, SHARE, TIME, type TableColumn, numberColumn } from "../widgets/columns"
import { ROW_HEIGHT, TABLE_FRAME, Table } from "../widgets/table"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "autotune"
const FASTEST_FIRST = "time"

export const autotune: View = {
  id: ID,
  title: "Autotune",
  key: "8",
  isPresent: (_page, shown) => shown.parts.autotune !== null,
  hits: (_page, shown) => (shown.parts.autotune === null ? null : [fitting(shown.parts.autotune).length, "runs"]),
  Component: Autotune,
}

/** `<run>.<sort>` in the address. */
function stateOf(part: AutotunePart): { at: number; sort: string } {
  const [run, sort] = (zoom.value[ID] ?? "").split(".")
  const at = /^\d+$/.test(run ?? "") ? Number(run) : (fitting(part)[0] ?? 0)
  return { at: at < part.runs.length ? at : 0, sort: sort || FASTEST_FIRST }
}

function fitting(part: AutotunePart): number[] {
  const fits = matcher.value
  const all = part.runs.map((_, at) => at)
  return fits === null ? all : all.filter((at) => fits(part.runs[at]?.kernel ?? "") || fits((part.runs[at]?.path ?? []).join(" › ")))
}

function Autotune(): VNode | null {
  const shown = profile.value
  const part = shown?.parts.autotune ?? null
  if (part === null) return null
  const { at, sort } = stateOf(part)
  const run = part.runs[at]
  return (
    <div class="autotune-view">
      <Runs part={part} at={at} onPick={(next) => pick(part, next, sort)} />
      {run === undefined ? null : (
        <>
          <Told run={run} />
          <Table
            label="configurations"
            columns={columnsOf(run)}
            rows={run.configs.map((_, index) => index)}
            idOf={String}
            isSelected={(index) => index === run.winner}
            classOf={(index) => (run.configs[index]?.error === null ? "" : "failed")}
            sort={sort}
            onSort={(next) => setZoom(ID, `${at}.${next}`)}
          />
        </>
      )}
    </div>
  )
}

function pick(part: AutotunePart, at: number, sort: string): void {
  setZoom(ID, `${at}.${sort}`)
  const row = part.runs[at]?.row ?? null
  if (row !== null) selectRow(row)
}

/** Which kernel was tuned for which key, each with its winner. */
function Runs({ part, at, onPick }: { part: AutotunePart; at: number; onPick(at: number): void }): VNode {
  const rows = fitting(part)
  const of = (each: number): TuningRun => part.runs[each] as TuningRun
  const number = (id: string, title: string, width: number, as: Measure, pick: (run: TuningRun) => number | null, hint?: string): TableColumn<number> => {
    const { key: _unsorted, ...column } = numberColumn(rows, { id, title, width, as, of: (each: number) => pick(of(each)), ...(hint === undefined ? {} : { hint }) })
    return column
  }
  const pathOf = (each: number): string => of(each).path.map(printable).join(" › ")
  const columns: TableColumn<number>[] = [
    {
      id: "kernel",
      title: "kernel",
      isText: true,
      name: (each) => printable(of(each).kernel),
      whole: (each) => `${printable(of(each).kernel)}  ${pathOf(each)}`,
      after: (each) => <span class="quiet"> {pathOf(each)}</span>,
    },
    { id: "key", title: "tuned for", width: 190, isText: true, cell: (each) => <span title={keyText(of(each))}>{keyText(of(each))}</span>, words: (each) => keyText(of(each)) },
    number("tried", "tried", 64, COUNT, (run) => run.configs.length),
    number("failed", "failed", 64, COUNT, (run) => run.failed),
    number("best", "winner", 92, TIME, (run) => run.best_ns),
    number("next", "over the next", 122, MORE, (run) => moreThanOne(run.over_next), "how much longer the second best took"),
    number("median", "over the median", 134, MORE, (run) => moreThanOne(run.over_median)),
  ]
  return (
    <div class="runs" style={{ height: `${Math.min(rows.length, 8) * ROW_HEIGHT + TABLE_FRAME}px` }}>
      <Table
        label="autotuning runs"
        columns={columns}
        rows={rows}
        idOf={String}
        isSelected={(each) => each === at}
        onSelect={onPick}
        sort=""
        onSort={() => undefined}
      />
    </div>
  )
}

function keyText(run: TuningRun): string {
  return run.key.map(printable).join(", ") || MISSING
}

/** One sentence on what the tuning brought. */
function Told({ run }: { run: TuningRun }): VNode {
  const best = run.winner === null ? undefined : run.configs[run.winner]
  return (
    <p class="told">
      {best === undefined ? (
        "No configuration won."
      ) : (
        <>
          <strong>{printable(best.config)}</strong> won with {text(time(run.best_ns))}
          {run.over_next === null ? "" : `, ${text(percent(run.over_next - 1))} ahead of the next`}
          {run.over_worst === null ? "" : ` and ${text(plain(run.over_worst))} times as fast as the slowest`}.
        </>
      )}{" "}
      <span class="quiet">
        {run.configs.length} tried{run.failed > 0 ? `, ${run.failed} failed` : ""}
        {run.interpreted ? "; times are those of the interpreter and tell nothing of a GPU" : ""}
      </span>
    </p>
  )
}

function columnsOf(run: TuningRun): TableColumn<number>[] {
  const of = (at: number): TunedConfig => run.configs[at] as TunedConfig
  const rows = [...run.configs.keys()]
  const slowest = run.configs.reduce((most, config) => Math.max(most, config.time_ns ?? 0), 0)
  const keys = [...new Set(run.configs.flatMap((config) => Object.keys(config.kwargs)))].slice(0, 12)
  const color = (at: number): string => strongOf(at === run.winner ? "kernel" : "host", isDark.value)
  const known = (pick: (config: TunedConfig) => number | null): boolean => run.configs.some((config) => pick(config) !== null)
  const number = (id: string, title: string, as: Measure, pick: (config: TunedConfig) => number | null, more: Partial<NumberColumn<number>> = {}): TableColumn<number> =>
    numberColumn(rows, { id, title, width: 78, as, of: (at) => pick(of(at)), ...more })
  const times = number("time", "time", TIME, (config) => config.time_ns, {
    bar: { share: (at) => (slowest > 0 && of(at).time_ns !== null ? (of(at).time_ns as number) / slowest : null), color },
  })
  const { width: _flexible, ...time } = times
  const configText = (at: number): string => (keys.length > 0 ? `#${at + 1}` : printable(of(at).config)) + (at === run.winner ? " ★" : "")
  const spills = number("spills", "spills", COUNT, (config) => config.spills, { hint: "registers of a thread that went to memory" })
  return [
    {
      id: "config",
      title: keys.length > 0 ? "tried" : "configuration",
      isText: true,
      width: keys.length > 0 ? 72 : 320,
      key: (at) => at,
      words: configText,
      cell: (at) => <span title={printable(of(at).config)}>{configText(at)}</span>,
    },
    ...keys.map((key): TableColumn<number> => {
      const words = (at: number): string => printable(of(at).kwargs[key] ?? MISSING)
      return {
        id: `k_${key}`,
        title: printable(key),
        width: Math.min(140, Math.max(64, 8 * key.length + 26)),
        key: (at) => sortable(of(at).kwargs[key]),
        words,
        cell: (at) => <span class="plainnum">{words(at)}</span>,
      }
    }),
    number("warps", "warps", COUNT, (config) => config.num_warps),
    number("stages", "stages", COUNT, (config) => config.num_stages),
    {
      ...time,
      cell: (at) => (of(at).error === null ? time.cell?.(at) : <span class="bad" title={printable(of(at).error ?? "")}>{printable(of(at).error ?? "")}</span>),
      words: (at) => (of(at).error === null ? (time.words?.(at) ?? "") : printable(of(at).error ?? "")),
    },
    number("over", "over winner", MORE, (config) => moreThanOne(config.over_best), { width: 104 }),
    ...(known((config) => config.registers) ? [number("registers", "registers", COUNT, (config) => config.registers, { hint: "of a thread" })] : []),
    // Spilled registers are a problem, so they may be red.
    ...(known((config) => config.spills) ? [{ ...spills, cell: (at: number) => <span class={(of(at).spills ?? 0) > 0 ? "bad" : ""}>{spills.cell?.(at)}</span> }] : []),
    ...(known((config) => config.shared_bytes) ? [number("shared", "shared", MEMORY, (config) => config.shared_bytes, { hint: "shared memory of a block", width: 92 })] : []),
  ]
}

/** How much longer than another: +17.0 %. */
const MORE: Measure = {
  ...SHARE,
  writer: () => (value) => {
    const share = percent(value)
    return value !== null && value !== undefined && value > 0 ? { ...share, whole: `+${share.whole}` } : share
  },
}

/** A ratio as what is above one; nothing for the winner itself. */
function moreThanOne(ratio: number | null): number | null {
  return ratio === null || ratio === 1 ? null : ratio - 1
}

function sortable(value: string | undefined): number | string | null {
  if (value === undefined) return null
  return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value
}
