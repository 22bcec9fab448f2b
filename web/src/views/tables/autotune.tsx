/** Autotuning: the configurations that were tried, what each cost, and by how much the winner won. */
import type { VNode } from "preact"
import { strongOf } from "../../draw/colors"
import { cutMiddle, printable } from "../../names"
import type { AutotunePart, TunedConfig, TuningRun } from "../../schema"
import { isDark, matcher, profile, selectRow, setZoom, zoom } from "../../state"
import { amount, count, percent, plain, text, time } from "../../units"
import { BarCell, Num } from "../widgets/facts"
import { ROW_HEIGHT, Table, type TableColumn } from "../widgets/table"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "autotune"
const FASTEST_FIRST = "time"

export const autotune: View = {
  id: ID,
  title: "Autotune",
  key: "8",
  isPresent: (_page, shown) => shown.parts.autotune !== null,
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
  const columns: TableColumn<number>[] = [
    { id: "kernel", title: "kernel", isText: true, cell: (each) => <Name run={part.runs[each] as TuningRun} /> },
    { id: "key", title: "tuned for", width: 190, isText: true, cell: (each) => keyText(part.runs[each] as TuningRun) },
    { id: "tried", title: "tried", width: 64, isWhole: true, unit: 0, cell: (each) => <Num of={count(part.runs[each]?.configs.length)} /> },
    { id: "failed", title: "failed", width: 64, isWhole: true, unit: 0, cell: (each) => <Num of={count(part.runs[each]?.failed)} /> },
    { id: "best", title: "winner", width: 92, cell: (each) => <Num of={time(part.runs[each]?.best_ns)} /> },
    { id: "next", title: "over the next", hint: "how much longer the second best took", width: 122, unit: 1.2, cell: (each) => more(part.runs[each]?.over_next ?? null) },
    { id: "median", title: "over the median", width: 134, unit: 1.2, cell: (each) => more(part.runs[each]?.over_median ?? null) },
  ]
  const rows = fitting(part)
  return (
    <div class="runs" style={{ height: `${Math.min(rows.length, 8) * ROW_HEIGHT + 30}px` }}>
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

function Name({ run }: { run: TuningRun }): VNode {
  const path = run.path.map(printable).join(" › ")
  return (
    <span title={`${printable(run.kernel)}\n${path}`}>
      {cutMiddle(printable(run.kernel), 48)} <span class="quiet">{cutMiddle(path, 60)}</span>
    </span>
  )
}

function keyText(run: TuningRun): VNode {
  const key = run.key.map(printable).join(", ")
  return <span title={key}>{key === "" ? "–" : cutMiddle(key, 48)}</span>
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
          <strong>{cutMiddle(printable(best.config), 120)}</strong> won with {text(time(run.best_ns))}
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
  const slowest = run.configs.reduce((most, config) => Math.max(most, config.time_ns ?? 0), 0)
  const keys = [...new Set(run.configs.flatMap((config) => Object.keys(config.kwargs)))].slice(0, 12)
  const color = (at: number): string => strongOf(at === run.winner ? "kernel" : "host", isDark.value)
  const known = (pick: (config: TunedConfig) => number | null): boolean => run.configs.some((config) => pick(config) !== null)
  const number = (id: string, title: string, pick: (config: TunedConfig) => number | null, hint?: string): TableColumn<number> => ({
    id,
    title,
    width: 78,
    isWhole: true,
    unit: 0,
    ...(hint === undefined ? {} : { hint }),
    key: (at) => pick(of(at)),
    cell: (at) => <Num of={count(pick(of(at)))} />,
  })
  return [
    {
      id: "config",
      title: keys.length > 0 ? "tried" : "configuration",
      isText: true,
      width: keys.length > 0 ? 72 : 320,
      key: (at) => at,
      cell: (at) => (
        <span title={printable(of(at).config)}>
          {keys.length > 0 ? `#${at + 1}` : cutMiddle(printable(of(at).config), 60)}
          {at === run.winner ? " ★" : ""}
        </span>
      ),
    },
    ...keys.map((key): TableColumn<number> => ({
      id: `k_${key}`,
      title: printable(key),
      width: Math.min(140, Math.max(64, 8 * key.length + 26)),
      key: (at) => sortable(of(at).kwargs[key]),
      cell: (at) => <span class="plainnum">{printable(of(at).kwargs[key] ?? "–")}</span>,
    })),
    number("warps", "warps", (config) => config.num_warps),
    number("stages", "stages", (config) => config.num_stages),
    {
      id: "time",
      title: "time",
      key: (at) => of(at).time_ns,
      cell: (at) =>
        of(at).error === null ? (
          <BarCell share={slowest > 0 && of(at).time_ns !== null ? (of(at).time_ns as number) / slowest : null} color={color(at)} of={time(of(at).time_ns)} />
        ) : (
          <span class="bad" title={printable(of(at).error ?? "")}>
            {cutMiddle(printable(of(at).error ?? ""), 40)}
          </span>
        ),
    },
    { id: "over", title: "over winner", width: 104, unit: 1.2, key: (at) => of(at).over_best, cell: (at) => more(of(at).over_best) },
    ...(known((config) => config.registers) ? [number("registers", "registers", (config) => config.registers, "of a thread")] : []),
    ...(known((config) => config.spills)
      ? [{ ...number("spills", "spills", (config) => config.spills, "registers of a thread that went to memory"), cell: (at: number) => <Spills of={of(at).spills} /> }]
      : []),
    ...(known((config) => config.shared_bytes)
      ? [
          {
            id: "shared",
            title: "shared",
            hint: "shared memory of a block",
            width: 92,
            key: (at: number) => of(at).shared_bytes,
            cell: (at: number) => <Num of={amount(of(at).shared_bytes, "B")} />,
          },
        ]
      : []),
  ]
}

/** Spilled registers are a problem, so they may be red. */
function Spills({ of }: { of: number | null }): VNode {
  return (
    <span class={of !== null && of > 0 ? "bad" : ""}>
      <Num of={count(of)} />
    </span>
  )
}

/** How much longer than the winner: +17.0 %; nothing for the winner itself. */
function more(ratio: number | null): VNode {
  if (ratio === null || ratio === 1) return <Num of={percent(null)} />
  const share = percent(ratio - 1)
  return <Num of={ratio > 1 ? { ...share, whole: `+${share.whole}` } : share} />
}

function sortable(value: string | undefined): number | string | null {
  if (value === undefined) return null
  return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value
}
