/** Names in the room that they have: all of a name is text of the page, what does not fit is not seen. */
import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import { hueOfKind, strongOf } from "../../draw/colors"
import { type Piece, layoutLabels } from "../../layout/labels"
import type { Profile } from "../../model"
import { printable } from "../../names"
import type { FrameKind, KernelsPart } from "../../schema"
import { isDark } from "../../state"
import type { TableColumn } from "./columns"

const MARGIN = 1.04 // text of the page is a little wider than a canvas says, at times
const TIGHT = 0.93 // letters that are kept may be wider than the name's own average

let measuring: CanvasRenderingContext2D | null = null
const widths = new Map<string, number>()

/** The width of a text in pixels, as the page writes it at 12 pixels. */
export function widthOf(text: string): number {
  let width = widths.get(text)
  if (width === undefined) {
    measuring ??= document.createElement("canvas").getContext("2d")
    if (measuring === null) return 7 * text.length
    measuring.font = `12px ${getComputedStyle(document.body).fontFamily}`
    widths.set(text, (width = MARGIN * measuring.measureText(text).width))
  }
  return width
}

/** The names of one list, each in so many pixels, so that they stay distinct. `size`: of their letters. */
export function useLabels(names: readonly string[], room: number, size = 12): Piece[][] {
  return useMemo(() => {
    const lettersOf = (name: string): number => {
      const width = (widthOf(name) * size) / 12
      return width <= room ? name.length : Math.max(6, Math.floor((TIGHT * room * name.length) / width) - 1)
    }
    return layoutLabels(names, lettersOf)
  }, [names.join("\n"), room, size])
}

/** A name in pieces. */
export function Label({ of, title }: { of: readonly Piece[] | undefined; title?: string }): VNode {
  return (
    <span class="label-text" title={title}>
      {(of ?? []).map((piece, at) => (piece.isShown ? piece.text : <span key={at} class={piece.isMarked ? "gone marked" : "gone"}>{piece.text}</span>))}
    </span>
  )
}

/** What a cell of a table shows: what its column has for the row, or the row's name in its room. */
export function Cell<Row>({ column, row, label }: { column: TableColumn<Row>; row: Row; label: readonly Piece[] | undefined }): VNode {
  if (column.name === undefined) return <>{column.cell?.(row)}</>
  return (
    <>
      {column.before?.(row)}
      <Label of={label} />
      {column.after?.(row)}
    </>
  )
}

/** The colour of a kind of work, before its name. */
export function Swatch({ kind }: { kind: FrameKind }): VNode {
  return <span class="swatch" style={{ background: strongOf(hueOfKind(kind), isDark.value) }} />
}

const places = new WeakMap<KernelsPart, Map<string, number>>()

/** What to know of the time of a kernel that wrote records; null for others. */
function recordingOf(of: Profile, name: string): string | null {
  const table = of.parts.kernels
  if (table === null) return null
  let known = places.get(table)
  if (known === undefined) places.set(table, (known = new Map(table.name.map((each, at) => [each, at]))))
  return table.recording_remark[known.get(name) ?? -1] ?? null
}

/** Behind the name of a kernel that was changed to record what happens inside: a word, or all that is to say of it. */
export function Instrumented({ of, name, isWhole = false }: { of: Profile; name: string; isWhole?: boolean }): VNode | null {
  const why = recordingOf(of, name)
  if (why === null) return null
  const [word] = why.split(":", 1)
  return isWhole ? <p class={kindOf(why)}>{printable(why)}</p> : <span class={kindOf(why)} title={why}> {word}</span>
}

/** A remark that goes on to say how recording changed the kernel is a warning. */
function kindOf(why: string): string {
  return why.includes("changed it") ? "beware" : "quiet"
}

/** The column of kernels, by their names in the file. */
export function kernelColumn<Row>(of: Profile, pick: (row: Row) => { name: string; kind: FrameKind }): TableColumn<Row> {
  const shown = (row: Row): string => of.shown(pick(row).name)
  return {
    id: "name",
    title: "kernel",
    isText: true,
    name: shown,
    whole: (row) => of.whole(pick(row).name),
    before: (row) => <Swatch kind={pick(row).kind} />,
    after: (row) => <Instrumented of={of} name={pick(row).name} />,
    key: (row) => shown(row).toLowerCase(),
  }
}
