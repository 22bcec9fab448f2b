/** The steps that the program marked: how long each took on the host, and how long the work took that was launched in it. */
import type { VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import { type Hue, strongOf } from "../../draw/colors"
import { stepsOf } from "../../layout/steps"
import { rangeText } from "../../layout/timeline/window"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { StepsOfRank, StepsPart } from "../../schema"
import { isDark, setZoom, view } from "../../state"
import { grouped, percent, text, time } from "../../units"
import { SHARE, TIME, numberColumn } from "../widgets/columns"
import { Fact } from "../widgets/facts"
import { SlowSteps, StepBars } from "../widgets/steps"
import { Twin } from "../widgets/twin"

const TIMELINE = "timeline"

export function MarkedSteps({ of, part }: { of: Profile; part: StepsPart }): VNode | null {
  const { times, series } = part
  const [shown, setShown] = useState(Math.max(series.findIndex((each) => each.rank === times.slowest_rank), 0))
  const known = series[shown] ?? series[0]
  if (known === undefined) return null
  const whose = times.slowest_rank === null ? "" : ` of rank ${times.slowest_rank}`
  return (
    <section class="steps" aria-label="steps">
      <h3>steps</h3>
      <p>
        <b>{grouped(times.count)} {times.count === 1 ? "step" : "steps"}</b>, host time of each: median {text(time(times.median_ns))}, p90{" "}
        {text(time(times.p90_ns))}, slowest {text(time(times.largest_ns))} (step {grouped(times.slowest)}{whose})
        {times.work_median_ns === null ? "" : `; ${workTime(of)} of a step: median ${text(time(times.work_median_ns))}`}
        {times.kept < times.count ? `; the times of ${grouped(times.kept)} are known` : ""}
        {series.length < 2 ? null : (
          <>
            {" "}
            <select aria-label="steps of which rank" value={String(shown)} onChange={(event) => setShown(Number(event.currentTarget.value))}>
              {series.map((each, at) => (
                <option key={at} value={String(at)}>
                  {each.rank === null ? "no rank" : `rank ${each.rank}`}
                </option>
              ))}
            </select>
          </>
        )}
      </p>
      <Series key={shown} of={of} series={known} median={times.median_ns} />
    </section>
  )
}

/** What the time of kernels is called; that of the interpreter says nothing of a GPU. */
function workTime(of: Profile): string {
  return of.parts.summary.is_interpreted ? "time (interpreted)" : "GPU time"
}

/** Under a schedule a file has some of the program's steps, each by its number as its name. */
function stepName(at: number, name: string): string {
  if (/^\d+$/.test(name)) return `step ${grouped(Number(name))}`
  return `step ${grouped(at)}${name === "" ? "" : ` ${printable(name)}`}`
}

/** `median`: of the steps of all ranks. */
function Series({ of, series, median }: { of: Profile; series: StepsOfRank; median: number }): VNode | null {
  const [chosen, setChosen] = useState(-1)
  const [starts, host] = [of.column(series.start_ns), of.column(series.duration_ns)]
  const gpu = series.gpu_time_ns === null ? null : of.column(series.gpu_time_ns)
  const work = workTime(of)
  const steps = useMemo(() => stepsOf(host, gpu), [host, gpu])
  if (steps === null) return null
  const name = (at: number): string => stepName(at, series.names[at] ?? "")
  const value = (at: number): string => text(time(host[at]))
  const facts = (at: number): VNode => (
    <dl>
      <Fact name="host time" of={time(host[at])} />
      <Fact name="of the median" of={percent((host[at] as number) / median)} />
      {gpu === null ? null : <Fact name={work} of={time(gpu[at])} />}
      <Fact name="began after" of={time(starts[at])} />
    </dl>
  )
  const extent = of.parts.trace?.extent_ns ?? null
  return (
    <>
      <StepBars
        steps={steps}
        marks={gpu}
        fill={strongOf("scope", isDark.value)}
        label="steps one by one"
        chosen={chosen}
        cardOf={(at) => (
          <>
            <strong>{cutMiddle(name(at), 80)}</strong>
            {facts(at)}
          </>
        )}
        onPick={(at) => setChosen(at === chosen ? -1 : at)}
      />
      <p class="steps-ends quiet">
        <span>{cutMiddle(name(0), 40)}</span>
        <span>{cutMiddle(name(host.length - 1), 40)}</span>
      </p>
      {gpu === null ? null : (
        <p class="legend quiet">
          <Swatch hue="scope" title="host time" />
          <Swatch hue="kernel" title={`${work} of what it launched`} />
        </p>
      )}
      {chosen < 0 ? null : (
        <div class="steps-chosen">
          <b>{cutMiddle(name(chosen), 80)}</b>
          {facts(chosen)}
          {extent === null ? null : (
            <button class="link" onClick={() => show(starts[chosen] as number, host[chosen] as number, extent)}>
              show it in the timeline
            </button>
          )}
        </div>
      )}
      <Twin
        label="all of them"
        rows={() => Array.from(host, (_, at) => at)}
        columns={(list) => [
          { id: "name", title: "step", isText: true, name, key: (at: number) => at },
          numberColumn(list, { id: "host", title: "host time", width: 104, as: TIME, of: (at) => host[at] }),
          numberColumn(list, { id: "ratio", title: "of median", width: 92, as: SHARE, of: (at) => (host[at] as number) / median }),
          ...(gpu === null ? [] : [numberColumn(list, { id: "gpu", title: work, width: 124, as: TIME, of: (at) => gpu[at] })]),
          numberColumn(list, { id: "start", title: "began after", width: 112, as: TIME, of: (at) => starts[at], gives: 1 }),
        ]}
        idOf={String}
        isSelected={(at) => at === chosen}
        onSelect={setChosen}
        sort="name"
      />
      <SlowSteps steps={steps} name={(at) => cutMiddle(name(at), 40)} value={value} onPick={setChosen} />
    </>
  )
}

function Swatch({ hue, title }: { hue: Hue; title: string }): VNode {
  return (
    <span>
      <span class="swatch" style={{ background: strongOf(hue, isDark.value) }} />
      {title}
    </span>
  )
}

/** The timeline, zoomed to a step with a little of what is around it. */
function show(start: number, duration: number, extent: readonly [number, number]): void {
  const [from, to] = [Math.max(start - duration / 20, extent[0]), Math.min(start + (duration * 21) / 20, extent[1])]
  view.value = TIMELINE
  setZoom(TIMELINE, rangeText([from, to], [extent[0], extent[1]]), true)
}
