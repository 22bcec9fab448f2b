/** In-kernel: CTAs on their multiprocessors, warps with regions, the regions in numbers, memory by address. */
import type { VNode } from "preact"
import { cutMiddle, printable } from "../../names"
import type { InKernelPart, KernelRecords, Launches } from "../../schema"
import { selectedKernel, view } from "../../state"
import { count, percent, plain, text, time } from "../../units"
import { Fact } from "../widgets/facts"
import type { View } from "../widgets/view"
import { CtaFigure, figureKey } from "./cta_figure"
import { CtaSummary } from "./cta_summary"
import { HeatMaps } from "./heat_map"
import { type Entry, chooseHere, entries, here, part, showEntry, shownEntry } from "./inkernel_state"
import { Accesses, Regions, Values } from "./regions"
import "./inkernel.css"

const MOST_OPTIONS = 500

export const inKernel: View = {
  id: "inkernel",
  title: "In-kernel",
  key: "7",
  isPresent: (_page, shown) => shown.parts.in_kernel !== null,
  Component: InKernel,
  Details,
  onKey,
  keys: [
    ["w a s d", "zoom in and out, move"],
    ["← ↑ → ↓", "go from the chosen CTA to the next one, or to the next multiprocessor"],
    ["+ -", "taller rows, lower rows"],
    ["0", "all of the launch"],
  ],
}

function InKernel(): VNode | null {
  const found = part.value
  const entry = entries.value[shownEntry.value]
  if (found === null || entry === undefined) return null
  const record = entry.record === null ? null : (found.kernels[entry.record] ?? null)
  const launches = entry.launches
  const at = Math.min(here.value.launch ?? 0, Math.max(launches.length - 1, 0))
  const launch = launches[at] === undefined ? undefined : found.launches.shown[launches[at]]
  return (
    <div class="inkernel-view">
      <Tools found={found} entry={entry} at={at} record={record} />
      {record?.marks.map((mark) => <p key={mark} class="beware mark">! {cutMiddle(mark, 400)}</p>)}
      <LeftOut of={found.launches} />
      {launch === undefined ? null : <CtaFigure key={`${shownEntry.value} ${at}`} found={found} launch={launch} regions={record?.regions ?? []} />}
      {record === null ? null : <Record of={record} hasLaunch={launch !== undefined} />}
    </div>
  )
}

/** What of the launches is in the file, but not in the page. */
function LeftOut({ of }: { of: Launches }): VNode {
  return (
    <>
      {of.left_out === 0 ? null : <p class="quiet mark">{text(count(of.left_out))} more launches are not in the page; the file has them</p>}
      {of.without_regions === 0 ? null : <p class="quiet mark">the page has no regions of {text(count(of.without_regions))} launches; the file has them</p>}
    </>
  )
}

function Record({ of, hasLaunch }: { of: KernelRecords; hasLaunch: boolean }): VNode {
  const hasNothing = of.regions.length + of.values.length + of.accesses.length + of.heat.length === 0 && of.ctas === null
  return (
    <>
      {of.ctas !== null && !hasLaunch ? <CtaSummary of={of.ctas} /> : null}
      {of.regions.length > 0 ? <Regions of={of} /> : null}
      {of.values.length > 0 ? <Values of={of} /> : null}
      {of.accesses.length > 0 ? <Accesses of={of} /> : null}
      {of.heat.length > 0 ? <HeatMaps of={of.heat} /> : null}
      {hasNothing && !hasLaunch ? <p class="quiet">no records of it could be read</p> : null}
    </>
  )
}

function optionText({ title, context, where, mark, mode }: Entry, isModeSaid: boolean): string {
  const path = context.slice(-3).join(" › ")
  const words = [cutMiddle(title, 50), cutMiddle(path, 50), where, isModeSaid ? cutMiddle(printable(mode), 30) : ""]
  return (mark === "" ? "" : "! ") + words.filter((each) => each !== "").join(" – ")
}

function Tools({ found, entry, at, record }: { found: InKernelPart; entry: Entry; at: number; record: KernelRecords | null }): VNode {
  const modes = new Set(entries.value.map((each) => each.mode))
  return (
    <div class="tools">
      <label>
        kernel{" "}
        <select aria-label="kernel" title={entry.mark} value={String(shownEntry.value)} onChange={(event) => showEntry(Number(event.currentTarget.value))}>
          {entries.value.slice(0, MOST_OPTIONS).map((each, number) => (
            <option key={number} value={String(number)}>
              {optionText(each, modes.size > 1)}
            </option>
          ))}
        </select>
      </label>
      {entry.launches.length > 1 ? (
        <label>
          launch{" "}
          <select
            aria-label="launch"
            value={String(at)}
            onChange={(event) => chooseHere({ launch: Number(event.currentTarget.value), cta: null, range: null }, true)}
          >
            {entry.launches.slice(0, MOST_OPTIONS).map((launch, number) => (
              <option key={number} value={String(number)}>
                {number + 1} of {entry.launches.length} – {text(time(found.launches.shown[launch]?.duration_ns))}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <span class="gap" />
      <span class="quiet">{(record?.facts ?? []).map((fact) => cutMiddle(printable(fact), 80)).join(" · ")}</span>
    </div>
  )
}

/** The largest regions of the selected kernel, and what to beware of. */
function Details(): VNode | null {
  const kernel = selectedKernel.value
  const entry = entries.value[shownEntry.value]
  const record = entry?.record === null || entry === undefined ? undefined : part.value?.kernels[entry.record]
  if (kernel === null || entry === undefined || !entry.names.includes(kernel) || record === undefined) return null
  const largest = record.regions.filter((each) => each.share !== null).sort((a, b) => (b.share ?? 0) - (a.share ?? 0))
  return (
    <section>
      <h3>recorded inside</h3>
      {record.mark === "" ? null : <p class="beware">{record.mark}</p>}
      <dl>
        {largest.slice(0, 4).map((each) => (
          <Fact key={each.name} name={cutMiddle(each.name, 40)} of={percent(each.share)} />
        ))}
        {record.ctas === null ? null : (
          <>
            <Fact name="CTAs" of={count(record.ctas.facts.count)} />
            <Fact name="waves" of={plain(record.ctas.facts.waves)} />
            <Fact name="tail" of={time(record.ctas.facts.tail_ns)} />
          </>
        )}
      </dl>
      {view.value === "inkernel" ? null : (
        <button class="link" onClick={() => (view.value = "inkernel")}>
          regions, CTAs and warps
        </button>
      )}
    </section>
  )
}

/** Keys are for the picture, which knows what it shows. */
function onKey(event: KeyboardEvent): boolean {
  return figureKey.current?.(event.key) ?? false
}
