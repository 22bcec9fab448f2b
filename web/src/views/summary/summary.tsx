/** The first screen: how long, where, and is it good. */
import type { VNode } from "preact"
import { TIME_NS } from "../../model"
import type { Profile } from "../../model"
import { printable } from "../../names"
import type { RoofDevice, SummaryPart } from "../../schema"
import { fittingNames, profile, view } from "../../state"
import { amount, count, moment, percent, plain, text, time } from "../../units"
import { Figure } from "../widgets/facts"
import { MarkedSteps } from "./marked_steps"
import { Kernels } from "./top_kernels"
import { TopWork } from "./top_work"
import { Tuning } from "../widgets/tuning"
import { Where } from "./where"
import type { View } from "../widgets/view"
import "./summary.css"

export const summary: View = {
  id: "summary",
  title: "Summary",
  key: "1",
  isPresent: () => true,
  hits: (_page, shown) => (shown.parts.kernels === null ? null : [fittingNames(shown, shown.parts.kernels.name).length, "kernels"]),
  Component: Summary,
}

function Summary(): VNode | null {
  const shown = profile.value
  if (shown === null) return null
  const { summary: part, kernels: table, steps, work } = shown.parts
  return (
    <>
      <Figures of={shown} part={part} />
      <Ranks of={shown} />
      <Tuning of={shown} />
      {steps === null ? null : <MarkedSteps of={shown} part={steps} />}
      <Where of={shown} />
      {part.refused === "" ? null : <p class="quiet">{printable(part.refused)}</p>}
      {work === null ? null : <TopWork of={shown} part={work} by="module" />}
      {work === null || table !== null ? null : <TopWork of={shown} part={work} by="op" />}
      {table === null ? null : <Kernels of={shown} table={table} />}
      <Recording of={shown} part={part} />
    </>
  )
}

function Figures({ of, part }: { of: Profile; part: SummaryPart }): VNode {
  const isHost = part.time_metric !== TIME_NS
  const worker = part.is_interpreted ? "the interpreter" : "the GPU"
  const where = part.is_interpreted ? "total, interpreted" : isHost ? "total on the host" : "total GPU"
  const what = part.ranks > 1 ? `${where}, sum over ${part.ranks} ranks` : where
  const shares = of.parts.trace?.shares ?? null
  const { rates } = part
  const known = `flops or bytes are known for ${text(percent(rates.declared_share))} of the time`
  const why = [known, rates.is_partial ? "other work counts as none" : "", rates.remark].filter((each) => each !== "").join("; ")
  return (
    <div class="figures">
      {part.time_ns === null ? null : <Figure name={what} of={time(part.time_ns)} />}
      {part.kernels === null ? null : <Figure name={part.kernels === 1 ? "kernel run" : "kernel runs"} of={count(part.kernels)} />}
      {part.time_ns === null && part.kernels === null ? <Figure name="contexts" of={count(part.contexts)} /> : null}
      {shares === null ? null : <Figure name="busy" of={percent(shares.busy)} title={`share of the wall time in which ${worker} worked`} />}
      {shares === null || shares.launch_bound === null ? null : (
        <Figure name="launch-bound" of={percent(shares.launch_bound)} title={`share of the wall time in which ${worker} waited for launches`} />
      )}
      {isHost ? null : (
        <Figure
          name={rates.share_of_peak === null && rates.remark !== "" ? `of peak: ${rates.remark}` : "of peak"}
          before={rates.is_partial ? "≥ " : ""}
          of={percent(rates.share_of_peak)}
          title={rates.declared_share === null ? undefined : why}
        />
      )}
      {rates.headroom_ns === null ? null : (
        <Figure name="could save" of={time(rates.headroom_ns)} title={`time above the roof, of the kernels that declare their work, as on the Roofline; ${known}`} />
      )}
      {rates.flop_per_s !== null ? <Figure name="arithmetic" of={amount(rates.flop_per_s, "FLOP/s")} title={why} /> : null}
      {rates.byte_per_s !== null ? <Figure name="memory" of={amount(rates.byte_per_s, "B/s")} title={why} /> : null}
    </div>
  )
}

const ABOUT = 1.005 // a ratio below it is none worth telling

/** Of a profile of several ranks: which one the others wait for. */
function Ranks({ of }: { of: Profile }): VNode | null {
  const part = of.parts.ranks
  const slowest = part?.times === null || part === null ? undefined : part.ranks[part.times.slowest]
  if (part === null || part.times === null || slowest === undefined || part.ranks.length < 2) return null
  const { largest_ns: largest, median_ns: median } = part.times
  return (
    <p class="slowest quiet">
      slowest: <button class="link" onClick={() => (view.value = "ranks")}>rank {slowest.rank}</button>
      {slowest.host === "" ? "" : ` on ${printable(slowest.host)}`} with {text(time(largest))},{" "}
      {median > 0 && largest / median >= ABOUT ? `${text(percent(largest / median - 1))} above the median rank` : "about as long as the median rank"}
    </p>
  )
}

/** What was recorded and how, for who opens the page a month later. */
function Recording({ of, part }: { of: Profile; part: SummaryPart }): VNode {
  const facts: [string, string][] = [
    ["file", of.source],
    ["command", part.command.join(" ")],
    ["host", part.host],
    ["recorded", moment(part.start_time_ns)],
    ["lasted", part.start_time_ns !== null && part.end_time_ns !== null ? text(time(part.end_time_ns - part.start_time_ns)) : ""],
    ["backend", [part.backends.join(", "), part.mode].filter((each) => each !== "").join(" ")],
    ["context", part.framework],
    ["device", part.devices.map(deviceText).join("; ")],
    ["time by device", part.by_device.map((each) => `${each.name} ${text(time(each.time_ns))}`).join(", ")],
    ["contexts", text(count(part.contexts))],
    ["phases", part.phases > 1 ? String(part.phases) : ""],
    ["ranks", part.ranks > 0 ? String(part.ranks) : ""],
    ["versions", versions(part.proton_version, part.triton_version, part.python_version)],
  ]
  return (
    <dl class="recording">
      {facts.map(([name, value]) =>
        value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={printable(value)}>{printable(value)}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function deviceText(device: RoofDevice): string {
  const half = device.roofs.find((roof) => roof.width === 16)
  const facts = [
    device.name,
    !device.multiprocessors ? "" : `${device.multiprocessors} multiprocessors`,
    !device.clock_mhz ? "" : `${text(plain(device.clock_mhz, "MHz"))}`,
    half === undefined ? "" : `${text(amount(half.flops_per_s, "FLOP/s"))} (16 bits)`,
    device.bytes_per_s === null ? "" : text(amount(device.bytes_per_s, "B/s")),
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
