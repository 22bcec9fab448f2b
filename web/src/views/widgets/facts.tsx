/** Pieces of all views: numbers, facts with their names, bars in cells, rows of buttons. */
import type { ComponentChildren, VNode } from "preact"
import type { Profile } from "../../model"
import { cutMiddle, frameName, printable } from "../../names"
import { hidesLibrary, isHidden } from "../../state"
import { MISSING, type Quantity, percent, text, time } from "../../units"

const SHORT = 200

/** A context where room is short: of a frame the function, its file and line without the folders. */
export function shortName(of: Profile, row: number): string {
  const place = of.place(row)
  return place === null ? of.name(row) : frameName(place)
}

/** The rows above a row that are shown, from the root down. */
export function pathAbove(of: Profile, row: number): number[] {
  return of.path(row).slice(0, -1).filter((each) => !isHidden(of, each))
}

/** The path above a row as one text. */
export function pathText(of: Profile, row: number, room: number): string {
  const names = pathAbove(of, row).map((each) => (room < SHORT ? shortName(of, each) : of.name(each)))
  return cutMiddle(names.join(" › ") || "at the top", room)
}

/** Leaves out frames of libraries, `many` of them, or shows them again. */
export function LibrarySwitch({ many, onPress }: { many: string; onPress(): void }): VNode {
  return (
    <button
      class="switch"
      title={`${many} of Python's own and installed packages, of torch and of Triton: what they called stands below your code (l)`}
      aria-pressed={hidesLibrary.value}
      onClick={onPress}
    >
      Hide library frames
    </button>
  )
}

/** Why a quantile of times is no more than an estimate; undefined where it is known. */
export function estimateOf(of: readonly number[] | null | undefined): string | undefined {
  const [, least, largest] = of ?? []
  if (least === undefined || largest === undefined) return undefined
  const [low, high] = [text(time(least)), text(time(largest))]
  return low === high ? undefined : `estimated from several contexts; between ${low} and ${high}`
}

/** A quantile of times with its bounds, where it is estimated from several contexts. */
export function Quantile({ of }: { of: number[] | null | undefined }): VNode {
  return <Num of={time(of?.[0])} mark={estimateOf(of)} />
}

export function Fact({ name, of, share, least }: { name: string; of: Quantity; share?: number | null; least?: string | undefined }): VNode {
  return (
    <Row name={name}>
      {share === undefined || share === null ? null : <><Num of={percent(share)} />{" "}</>}
      <Num of={of} least={least} />
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

/** Before the names of metrics that count samples by what their warp waited for. */
export const STALLED = "stalled_"

/** Whether a metric counts samples of instructions. */
export function isOfSamples(metric: string): boolean {
  return metric.startsWith(STALLED) || /^num_(\w+_)?samples$/.test(metric)
}

/** What to know of a number: why it is rough, or the least that it may be. */
export interface Remarks {
  mark?: string | undefined
  least?: string | undefined
}

/** The sign before a number that one should know something of. */
export function signOf(of: Quantity, { mark, least }: Remarks): string {
  if (of.whole === MISSING) return ""
  return mark !== undefined ? "~" : least !== undefined ? "≥\u00a0" : ""
}

/** A quantity as one text, which can be found and copied. `pad`: decimals that it has fewer than others of its column. */
export function Num({ of, mark, least, title, pad = 0 }: Remarks & { of: Quantity; title?: string; pad?: number }): VNode {
  return (
    <span class="num" title={mark ?? least ?? title} style={pad > 0 ? { paddingRight: `${pad}ch` } : {}}>
      {signOf(of, { mark, least }) + of.whole + of.fraction}
      {of.unit === "" ? null : <span class="unit"> {of.unit}</span>}
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
export function BarCell(props: Remarks & { share: number | null; color: string; of: Quantity; pad?: number; isShort?: boolean }): VNode {
  const { share } = props
  return (
    <span class={props.isShort === true ? "barcell short" : "barcell"}>
      <span class="track">
        {share === null ? null : (
          <span class="filled" style={{ width: `${100 * Math.min(Math.max(share, 0), 1)}%`, background: props.color }} />
        )}
      </span>
      <Num of={props.of} mark={props.mark} least={props.least} pad={props.pad ?? 0} />
    </span>
  )
}
