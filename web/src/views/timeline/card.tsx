/** The card beside the pointer, and what the pane on the right adds about a selected span. */
import type { VNode } from "preact"
import type { Chart, Hit } from "../../layout/timeline/chart"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import { type Timeline, timelineOf } from "../../layout/timeline/spans"
import { profile, selection } from "../../state"
import { exactMoment, exactTime, text, time } from "../../units"
import { Fact, Words, pathAbove } from "../widgets/facts"
import { argumentName, argumentText, causeText, labelsOf } from "./texts"

const MOST_ARGUMENTS = 8

/** What is under the pointer. */
export function Card({ of, chart, hit }: { of: Profile; chart: Chart; hit: Exclude<Hit, { kind: "group" }> }): VNode {
  return hit.kind === "span" ? <SpanCard of={of} timeline={chart.timeline} span={hit.span} /> : <GapCard chart={chart} of={hit.of} at={hit.at} />
}

function SpanCard({ of, timeline, span }: { of: Profile; timeline: Timeline; span: number }): VNode {
  const look = timeline.look[span] as number
  const row = timeline.row(span)
  const path = row === null ? [] : pathAbove(of, row)
  return (
    <>
      <strong>{cutMiddle(labelsOf(timeline, of)(look), 120)}</strong>
      {path.length > 0 ? <p class="quiet">{cutMiddle(path.map((each) => printable(of.name(each))).join(" › "), 110)}</p> : null}
      <dl>
        <SpanFacts timeline={timeline} span={span} isWhole={false} />
      </dl>
    </>
  )
}

/** Times with every digit, to be taken over into other tools; they count from the beginning of the trace. */
function Exact({ timeline, start, end }: { timeline: Timeline; start: number; end: number }): VNode {
  const { extent_ns: extent, base_time_ns: base } = timeline.part
  return (
    <>
      <Fact name="start" of={exactTime(start - extent[0])} />
      <Fact name="end" of={exactTime(end - extent[0])} />
      <Fact name="duration" of={exactTime(end - start)} />
      <Words name="at" of={base === null ? null : exactMoment(base, start)} />
    </>
  )
}

/** `isWhole`: with every digit of its times, for who wants to write them down. */
function SpanFacts({ timeline, span, isWhole }: { timeline: Timeline; span: number; isWhole: boolean }): VNode {
  const [start, end] = [timeline.starts[span] as number, timeline.ends[span] as number]
  const [call] = timeline.launchedBy(span)
  const called = call === undefined ? null : start - (timeline.starts[call] as number)
  const correlation = isWhole ? timeline.correlation(span) : null
  const args = Object.entries(timeline.args(span) ?? {})
  return (
    <>
      <Fact name="took" of={time(end - start)} />
      {isWhole ? <Exact timeline={timeline} start={start} end={end} /> : <Fact name="began after" of={exactTime(start - timeline.part.extent_ns[0])} />}
      {correlation === null ? null : <Words name="correlation id" of={String(correlation)} />}
      {called !== null && called >= 0 ? <Fact name="since its launch call" of={time(called)} /> : null}
      {args.slice(0, MOST_ARGUMENTS).map(([name, value]) => (
        <Words key={name} name={cutMiddle(argumentName(name), 32)} of={cutMiddle(argumentText(name, value), 60)} />
      ))}
    </>
  )
}

function GapCard({ chart, of, at }: { chart: Chart; of: number | string; at: number }): VNode | null {
  const gaps = chart.gaps(of)?.gaps
  if (gaps === undefined) return null
  const cause = chart.timeline.part.gaps.causes[gaps.causes[at] as number] ?? ""
  return (
    <>
      <strong>
        {gaps.lane === null ? "device" : "stream"} idle: {cause}
      </strong>
      <p class="quiet">{causeText(cause)}</p>
      <dl>
        <Fact name="for" of={time((gaps.ends[at] as number) - (gaps.starts[at] as number))} />
        <Fact name="began after" of={exactTime((gaps.starts[at] as number) - chart.timeline.part.extent_ns[0])} />
      </dl>
    </>
  )
}

/** About the selected span; nothing where the selection is none. */
export function SpanDetails(): VNode | null {
  const shown = profile.value
  const chosen = selection.value
  const timeline = shown === null ? null : timelineOf(shown)
  if (shown === null || timeline === null || chosen?.kind !== "span" || !timeline.has(chosen.index)) return null
  const lane = timeline.lanes[timeline.laneOf(chosen.index)]
  const launched = timeline.launched(chosen.index)
  const calls = timeline.launchedBy(chosen.index)
  const label = labelsOf(timeline, shown)
  return (
    <section>
      <h2>{cutMiddle(label(timeline.look[chosen.index] as number), 160)}</h2>
      <h3>this span</h3>
      <dl>
        <Words name="lane" of={lane === undefined ? null : `${lane.group} ${lane.name}`} />
        <SpanFacts timeline={timeline} span={chosen.index} isWhole />
      </dl>
      <Ends title="launched by" spans={calls} timeline={timeline} label={label} />
      <Ends title="launched" spans={launched} timeline={timeline} label={label} />
    </section>
  )
}

interface EndsOf {
  title: string
  spans: readonly number[]
  timeline: Timeline
  label: (look: number) => string
}

/** The other ends of the arrows, to follow them by a click. */
function Ends({ title, spans, timeline, label }: EndsOf): VNode | null {
  if (spans.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ol class="contexts">
        {spans.slice(0, MOST_ARGUMENTS).map((span) => (
          <li key={span}>
            <button class="link" onClick={() => (selection.value = { kind: "span", index: span })}>
              {cutMiddle(label(timeline.look[span] as number), 48)}
            </button>
            <span class="quiet">{text(time((timeline.ends[span] as number) - (timeline.starts[span] as number)))}</span>
          </li>
        ))}
      </ol>
      {spans.length > MOST_ARGUMENTS ? <p class="quiet">and {spans.length - MOST_ARGUMENTS} more</p> : null}
    </>
  )
}
