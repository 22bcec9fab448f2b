/** The first screen: how long, where, and is it good. */
import type { VNode } from "preact"
import { TIME_NS } from "../../model"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { RoofDevice, SummaryPart } from "../../schema"
import { profile } from "../../state"
import { amount, count, moment, percent, plain, text, time } from "../../units"
import { Figure } from "../widgets/facts"
import { Kernels } from "./top_kernels"
import { Where } from "./where"
import type { View } from "../widgets/view"
import "./summary.css"

export const summary: View = {
  id: "summary",
  title: "Summary",
  key: "1",
  isPresent: () => true,
  Component: Summary,
}

function Summary(): VNode | null {
  const shown = profile.value
  if (shown === null) return null
  const { summary: part, kernels: table } = shown.parts
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
  const shares = of.parts.trace?.shares ?? null
  const { rates } = part
  const known = rates.declared_share ?? 0
  const isTold = known >= TELLING
  const isPartial = isTold && known < 0.995
  const why = `flops or bytes are known for ${text(percent(known))} of the time${isPartial ? "; other work counts as none" : ""}`
  return (
    <div class="figures">
      {part.time_ns === null ? null : <Figure name={what} of={time(part.time_ns)} />}
      {part.kernels === null ? null : <Figure name={part.kernels === 1 ? "kernel run" : "kernel runs"} of={count(part.kernels)} />}
      {part.time_ns === null && part.kernels === null ? <Figure name="contexts" of={count(part.contexts)} /> : null}
      {shares === null ? null : <Figure name="busy" of={percent(shares.busy)} title="share of the wall time in which the GPU worked" />}
      {shares === null || shares.launch_bound === null ? null : (
        <Figure name="launch-bound" of={percent(shares.launch_bound)} title="share of the wall time in which the GPU waited for launches" />
      )}
      {isHost ? null : (
        <Figure
          name={isTold || rates.share_of_peak === null ? "of peak" : "of peak: work not known"}
          before={isPartial && rates.share_of_peak !== null ? "≥ " : ""}
          of={percent(isTold ? rates.share_of_peak : null)}
          title={rates.declared_share === null ? undefined : why}
        />
      )}
      {isTold && rates.headroom_ns !== null ? (
        <Figure name="above the roof" before={isPartial ? "≤ " : ""} of={time(rates.headroom_ns)} title={`time that the hardware's peak would not need; ${why}`} />
      ) : null}
      {isTold && rates.flop_per_s !== null ? <Figure name="arithmetic" of={amount(rates.flop_per_s, "FLOP/s")} title={why} /> : null}
      {isTold && rates.byte_per_s !== null ? <Figure name="memory" of={amount(rates.byte_per_s, "B/s")} title={why} /> : null}
    </div>
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
    ["device", part.devices.map(deviceText).join("; ")],
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
            <dd title={printable(value)}>{cutMiddle(printable(value), 200)}</dd>
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
