/** Pieces of all views: numbers, facts with their names, bars in cells, rows of buttons. */
import type { ComponentChildren, VNode } from "preact"
import type { Profile } from "../../model"
import { hueOfKind, strongOf } from "../../draw/colors"
import { cutMiddle, frameName, printable, shortened } from "../../names"
import type { FrameKind } from "../../schema"
import { isDark } from "../../state"
import { type Quantity, percent, text, time } from "../../units"

const SHORT = 200

/** A context where room is short: of a frame the function, its file and line without the folders. */
export function shortName(of: Profile, row: number): string {
  const place = of.place(row)
  return place === null ? of.name(row) : frameName(place)
}

/** The path above a row as one text. */
export function pathText(of: Profile, row: number, room: number): string {
  const names = of.path(row).slice(0, -1).map((each) => (room < SHORT ? shortName(of, each) : of.name(each)))
  return cutMiddle(names.join(" › ") || "at the top", room)
}

/** A quantile of times with its bounds, where it is estimated from several contexts. */
export function Quantile({ of }: { of: number[] | null | undefined }): VNode {
  const [value, least, largest] = of ?? []
  if (least === undefined || largest === undefined) return <Num of={time(value)} />
  return <Num of={time(value)} mark={`estimated from several contexts; between ${text(time(least))} and ${text(time(largest))}`} />
}

export function Fact({ name, of, share }: { name: string; of: Quantity; share?: number | null }): VNode {
  return (
    <Row name={name}>
      <Num of={of} />
      {share === undefined || share === null ? null : <Num of={percent(share)} />}
    </Row>
  )
}

export function Words({ name, of }: { name: string; of: string | null }): VNode | null {
  return of === null ? null : <Row name={name}>{printable(of)}</Row>
}

export function Row({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A large number with its name below. */
export function Figure({ name, of, before = "", title }: { name: string; of: Quantity; before?: string; title?: string | undefined }): VNode {
  return (
    <div class="figure" title={title}>
      <strong>
        {before}
        {text(of)}
      </strong>
      <span>{name}</span>
    </div>
  )
}

const TAIL = 11

/** A name in one line: where room is short, its middle gives way. */
export function Name({ of }: { of: string }): VNode {
  const shown = cutMiddle(of, 400)
  if (shown.length <= TAIL + 6) return <span class="cut"><span class="head">{shown}</span></span>
  return (
    <span class="cut">
      <span class="head">{shown.slice(0, -TAIL)}</span>
      <span class="tail">{shown.slice(-TAIL)}</span>
    </span>
  )
}

/** A kernel by its name in the file, with the colour of its kind, in so many letters. */
export function KernelName({ of, name, kind, letters }: { of: Profile; name: string; kind: FrameKind; letters: number }): VNode {
  return (
    <span title={of.whole(name)}>
      <span class="swatch" style={{ background: strongOf(hueOfKind(kind), isDark.value) }} />
      {shortened(of.shown(name), letters)}
    </span>
  )
}

/** Before the names of metrics that count samples by what their warp waited for. */
export const STALLED = "stalled_"

/** Whether a metric counts samples of instructions. */
export function isOfSamples(metric: string): boolean {
  return metric.startsWith(STALLED) || /^num_(\w+_)?samples$/.test(metric)
}

/** A quantity in three pieces, so that those above each other line up. */
export function Num({ of, mark, title }: { of: Quantity; mark?: string | undefined; title?: string }): VNode {
  return (
    <span class="num" title={mark ?? title}>
      <span class="whole">{mark === undefined ? of.whole : `~${of.whole}`}</span>
      <span class="fraction">{of.fraction}</span>
      <span class="unit">{of.unit}</span>
    </span>
  )
}

export interface Option {
  id: string
  title: string
  hint?: string
}

export function Choice(props: { label: string; options: readonly Option[]; value: string; onPick(id: string): void }): VNode {
  return (
    <span class="choice" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.id}
          title={option.hint}
          aria-pressed={option.id === props.value}
          onClick={() => props.onPick(option.id)}
        >
          {option.title}
        </button>
      ))}
    </span>
  )
}

/** A share as a bar with its number behind. */
export function BarCell(props: { share: number | null; color: string; of: Quantity; mark?: string }): VNode {
  const { share } = props
  return (
    <span class="barcell">
      <span class="track">
        {share === null ? null : (
          <span class="filled" style={{ width: `${100 * Math.min(Math.max(share, 0), 1)}%`, background: props.color }} />
        )}
      </span>
      <Num of={props.of} mark={props.mark} />
    </span>
  )
}
