/** The first screen: how long, where, and is it good. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../draw/colors"
import { TIME_NS } from "../format"
import type { Profile } from "../model"
import { cutMiddle, printable } from "../names"
import { type KernelsPart, kernelsOf } from "../parts/kernels"
import { type DevicePart, type SummaryPart, summaryOf } from "../parts/summary"
import type { TracePart } from "../parts/trace"
import { isDark, matcher, metric, profile, selectKernel, selectRow, selectedKernel, selectedRow } from "../state"
import { amount, count, metricQuantity, moment, percent, plain, plainName, text, time } from "../units"
import { Figure, Name, estimateMark } from "./facts"
import { Num } from "./number"
import type { View } from "./view"

const MOST_KERNELS = 20
const MOST_BARS = 8

export const summary: View = {
  id: "summary",
  title: "Summary",
  key: "1",
  isPresent: () => true,
  Component: Summary,
  onKey,
}

function Summary(): VNode | null {
  const shown = profile.value
  const part = shown === null ? null : summaryOf(shown)
  if (shown === null || part === null) return null
  const table = kernelsOf(shown)
  return (
    <>
      <Figures of={shown} part={part} />
      <Where of={shown} />
      {table === null ? null : <Kernels of={shown} table={table} />}
      <Recording of={shown} part={part} />
    </>
  )
}

/** Below this share of the time, what is known of the work says nothing of the whole. */
const TELLING = 0.5

function Figures({ of, part }: { of: Profile; part: SummaryPart }): VNode {
  const isHost = part.time_metric !== TIME_NS
  const what = part.is_interpreted ? "total, interpreted" : isHost ? "total on the host" : "total GPU"
  const shares = of.part<TracePart>("trace")?.shares ?? null
  const known = part.declared_share ?? 0
  const isTold = known >= TELLING
  const isPartial = isTold && known < 0.995
  const why = `flops or bytes are known for ${text(percent(known))} of the time${isPartial ? "; other work counts as none" : ""}`
  return (
    <div class="figures">
      <Figure name={what} of={time(part.time_ns)} />
      <Figure name={part.kernels === 1 ? "kernel run" : "kernel runs"} of={count(part.kernels)} />
      {shares === null ? null : <Figure name="busy" of={percent(shares.busy)} title="share of the wall time in which the GPU worked" />}
      {shares === null || shares.launch_bound === null ? null : (
        <Figure name="launch-bound" of={percent(shares.launch_bound)} title="share of the wall time in which the GPU waited for launches" />
      )}
      {isHost ? null : (
        <Figure
          name={isTold || part.share_of_peak === null ? "of peak" : "of peak: work not known"}
          before={isPartial && part.share_of_peak !== null ? "≥ " : ""}
          of={percent(isTold ? part.share_of_peak : null)}
          title={part.declared_share === null ? undefined : why}
        />
      )}
      {isTold && part.headroom_ns !== null ? (
        <Figure name="above the roof" before={isPartial ? "≤ " : ""} of={time(part.headroom_ns)} title={`time that the hardware's peak would not need; ${why}`} />
      ) : null}
      {isTold && part.flop_per_s !== null ? <Figure name="arithmetic" of={amount(part.flop_per_s, "FLOP/s")} title={why} /> : null}
      {isTold && part.byte_per_s !== null ? <Figure name="memory" of={amount(part.byte_per_s, "B/s")} title={why} /> : null}
    </div>
  )
}

/** The children of the root, or of the only child chain below it, by share. */
function Where({ of }: { of: Profile }): VNode | null {
  const name = metric.value
  const whole = of.value(name, 0)
  if (!(whole > 0) || of.metricKind(name) !== "inclusive") return null
  const totals = of.totals(name)
  let top = 0
  let rows = of.children(top).filter((row) => (totals[row] as number) > 0)
  while (rows.length === 1 && of.children(rows[0] as number).some((row) => (totals[row] as number) > 0)) {
    top = rows[0] as number
    rows = of.children(top).filter((row) => (totals[row] as number) > 0)
  }
  rows.sort((a, b) => (totals[b] as number) - (totals[a] as number))
  const rest = rows.slice(MOST_BARS).reduce((sum, row) => sum + (totals[row] as number), 0)
  return (
    <section class="where" aria-label={`where the ${plainName(name)} goes`}>
      {rows.slice(0, MOST_BARS).map((row) => (
        <Bar key={row} of={of} row={row} share={(totals[row] as number) / whole} />
      ))}
      {rest > 0 ? <p class="quiet">{rows.length - MOST_BARS} more: {text(percent(rest / whole))}</p> : null}
    </section>
  )
}

function Bar({ of, row, share }: { of: Profile; row: number; share: number }): VNode {
  const color = strongOf(hueOfKind(of.kind(row)), isDark.value)
  return (
    <button class="bar" aria-pressed={selectedRow.value === row} onClick={() => selectRow(row)} title={of.whole(of.rawName(row))}>
      <span class="label">
        <Name of={of.name(row)} />
      </span>
      <span class="track">
        <span class="filled" style={{ width: `${Math.max(100 * share, 0.3)}%`, background: color }} />
      </span>
      <Num of={percent(share)} />
      <Num of={metricQuantity(metric.value, of.value(metric.value, row))} />
    </button>
  )
}

function shownKernels(of: Profile, table: KernelsPart): number[] {
  const fits = matcher.value
  const found: number[] = []
  for (let at = 0; at < table.name.length && found.length < MOST_KERNELS; at++) {
    const name = table.name[at] as string
    if (fits === null || fits(of.shown(name)) || fits(name)) found.push(at)
  }
  return found
}

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
  const quantile = (values: KernelsPart["p50_ns"]) => (at: number) => {
    const [value, least, largest] = values[at] ?? []
    return <Num of={time(value)} mark={estimateMark(least, largest)} />
  }
  const all: [boolean, Column][] = [
    [true, { title: "time", unit: 2, cell: (at) => <Num of={time(table.time_ns[at])} /> }],
    [true, { title: "share", unit: 1, cell: (at) => <Num of={percent(table.share[at])} /> }],
    [has(table.count), { title: "n", unit: 0, isWhole: true, cell: (at) => <Num of={count(table.count[at])} /> }],
    [has(table.p50_ns), { title: "p50", unit: 2, gives: 2, cell: quantile(table.p50_ns) }],
    [has(table.p99_ns), { title: "p99", unit: 2, gives: 2, cell: quantile(table.p99_ns) }],
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

function Kernels({ of, table }: { of: Profile; table: KernelsPart }): VNode {
  const rows = shownKernels(of, table)
  const columns = columnsOf(table, rows)
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

/** What was recorded and how, for who opens the page a month later. */
function Recording({ of, part }: { of: Profile; part: SummaryPart }): VNode {
  const { header } = of.recording
  const facts: [string, string][] = [
    ["file", of.source],
    ["command", header.command.join(" ")],
    ["host", header.host],
    ["recorded", moment(header.startNs)],
    ["lasted", header.startNs !== null && header.endNs !== null ? text(time(header.endNs - header.startNs)) : ""],
    ["backend", [header.backends.join(", "), header.mode].filter((each) => each !== "").join(" ")],
    ["device", part.devices.map(deviceText).join("; ")],
    ["contexts", text(count(part.contexts))],
    ["phases", part.phases > 1 ? String(part.phases) : ""],
    ["ranks", part.ranks > 0 ? String(part.ranks) : ""],
    ["versions", versions(header.version, header.triton, header.python)],
  ]
  return (
    <dl class="recording">
      {facts.map(([name, value]) =>
        value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={printable(value)}>{cutMiddle(printable(value), 200)}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function deviceText(device: DevicePart): string {
  const half = device.peak_flops["16"]
  const facts = [
    device.name ?? `${device.type} ${device.arch}`,
    device.multiprocessors === null ? "" : `${device.multiprocessors} multiprocessors`,
    device.clock_mhz === null ? "" : `${text(plain(device.clock_mhz, "MHz"))}`,
    half === undefined ? "" : `${text(amount(half, "FLOP/s"))} (16 bits)`,
    device.peak_bytes_per_s === null ? "" : text(amount(device.peak_bytes_per_s, "B/s")),
  ]
  return facts.filter((fact) => fact !== "").join(", ")
}

function versions(proton: string, triton: string, python: string): string {
  const known: [string, string][] = [
    ["proton", proton],
    ["Triton", triton],
    ["Python", python],
  ]
  return known.filter(([, version]) => version !== "").map(([name, version]) => `${name} ${version}`).join(", ")
}

/** Up and down go through the kernels. */
function onKey(event: KeyboardEvent): boolean {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  const shown = profile.value
  const table = shown === null ? null : kernelsOf(shown)
  if (step === 0 || shown === null || table === null) return false
  const rows = shownKernels(shown, table)
  const at = rows.findIndex((row) => table.name[row] === selectedKernel.value)
  const next = rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]
  if (next !== undefined) selectKernel(table.name[next] as string)
  return true
}
