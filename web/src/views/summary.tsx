/** The first screen: how long, where, and is it good. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../draw/colors"
import type { Profile } from "../model"
import { cutMiddle, printable } from "../names"
import { type KernelsPart, kernelsOf } from "../parts/kernels"
import { type SummaryPart, summaryOf } from "../parts/summary"
import { isDark, matcher, metric, profile, selectKernel, selectRow, selectedKernel, selectedRow } from "../state"
import { amount, count, metricQuantity, moment, percent, plainName, text, time } from "../units"
import { Figure, estimateMark } from "./facts"
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
      <Figures of={part} />
      <Where of={shown} />
      {table === null ? null : <Kernels of={shown} table={table} />}
      <Recording of={shown} part={part} />
    </>
  )
}

function Figures({ of }: { of: SummaryPart }): VNode {
  const isHost = of.time_metric !== "time (ns)"
  const what = of.is_interpreted ? "total, interpreted" : isHost ? "total on the host" : "total GPU"
  return (
    <div class="figures">
      <Figure name={what} of={time(of.time_ns)} />
      <Figure name={of.kernels === 1 ? "kernel run" : "kernel runs"} of={count(of.kernels)} />
      <Figure name="of peak" of={percent(of.share_of_peak)} />
      {of.headroom_ns === null ? null : <Figure name="above the roof" of={time(of.headroom_ns)} />}
      {of.flop_per_s === null ? null : <Figure name="arithmetic" of={amount(of.flop_per_s, "FLOP/s")} />}
      {of.byte_per_s === null ? null : <Figure name="memory" of={amount(of.byte_per_s, "B/s")} />}
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
      <span class="label">{cutMiddle(of.name(row), 60)}</span>
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

function Kernels({ of, table }: { of: Profile; table: KernelsPart }): VNode {
  const rows = shownKernels(of, table)
  const has = (values: readonly unknown[]): boolean => values.some((value) => value !== null)
  const [flops, bytes, peak] = [has(table.flop_per_s), has(table.byte_per_s), has(table.share_of_peak)]
  const more = table.name.length - rows.length
  return (
    <section>
      <table class="kernels">
        <thead>
          <tr>
            <th class="name">top kernels</th>
            <th>time</th>
            <th>share</th>
            <th>n</th>
            <th>p50</th>
            <th>p99</th>
            {flops ? <th>arithmetic</th> : null}
            {bytes ? <th>memory</th> : null}
            {peak ? <th>of peak</th> : null}
          </tr>
        </thead>
        <tbody>
          {rows.map((at) => {
            const name = table.name[at] as string
            const [p50, p99] = [table.p50_ns[at] ?? [], table.p99_ns[at] ?? []]
            return (
              <tr key={name} aria-selected={selectedKernel.value === name} onClick={() => selectKernel(name)}>
                <td class="name" title={of.whole(name)}>
                  <span class="swatch" style={{ background: strongOf(hueOfKind(table.kind[at] ?? "k"), isDark.value) }} />
                  {cutMiddle(of.shown(name), 72)}
                </td>
                <td><Num of={time(table.time_ns[at])} /></td>
                <td><Num of={percent(table.share[at])} /></td>
                <td><Num of={count(table.count[at])} /></td>
                <td><Num of={time(p50[0])} mark={estimateMark(p50[1], p50[2])} /></td>
                <td><Num of={time(p99[0])} mark={estimateMark(p99[1], p99[2])} /></td>
                {flops ? <td><Num of={amount(table.flop_per_s[at], "FLOP/s")} /></td> : null}
                {bytes ? <td><Num of={amount(table.byte_per_s[at], "B/s")} /></td> : null}
                {peak ? <td><Num of={percent(table.share_of_peak[at])} /></td> : null}
              </tr>
            )
          })}
        </tbody>
      </table>
      {more > 0 ? <p class="quiet">{text(count(more))} more, which take less time or do not fit the search</p> : null}
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
