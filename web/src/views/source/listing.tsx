/** The lines of a source file with their samples in the margin and their regions; what was inlined unfolds below a line. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { type InlinedLine, type LineSum, type SourceRow, type Sum, fileSum, inlinedInto, isOfLine, linesOf, regionsOf, rowsOf } from "../../layout/source"
import { baseName, cutMiddle, printable } from "../../names"
import type { RegionPlace, SourceFile, SourcePart } from "../../schema"
import { matcher, selectKernel, view } from "../../state"
import { count, grouped, percent, text } from "../../units"
import { Num } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { ReasonBar, ReasonWords } from "./reasons"
import { choose, chosenInstruction, kernel, linkedLines, place, point, pointed, pointedInstruction } from "./source_state"

interface ListingProps {
  of: SourcePart
  file: number
  /** The reason that bars and numbers are of; null for all. */
  focus: number | null
}

/** Samples of a sum that count: all, or those of the reason that is looked at. */
function counted(sum: Sum, focus: number | null): number {
  if (focus === null) return sum.samples
  return sum.reasons.find(([reason]) => reason === focus)?.[1] ?? 0
}

export function Listing({ of, file, focus }: ListingProps): VNode {
  const box = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set())
  const only = kernel.value
  const about = of.files[file] as SourceFile
  const lines = useMemo(() => linesOf(of, file, only), [of, file, only])
  const whole = useMemo(() => fileSum(of, file, only), [of, file, only])
  const regions = useMemo(() => regionsOf(of, file), [of, file])
  const chosen = place.value?.line ?? null
  const shown = useMemo(() => {
    const known = new Map<number, unknown>([...lines, ...regions])
    if (chosen !== null && (about.count === 0 || chosen <= about.count)) known.set(chosen, null)
    return known
  }, [lines, regions, about, chosen])
  const rows = useMemo(() => rowsOf(about, shown, opened), [about, shown, opened])
  const hottest = [...lines.values()].reduce((best, each) => (each.samples > (best?.samples ?? 0) ? each : best), null as LineSum | null)
  const most = Math.max(1, ...[...lines.values()].map((each) => counted(each, focus)))
  const linked = linkedLines(of, file)
  const at = pointed.value
  const isPointed = (line: number): boolean => linked.pointed.has(line) || (at?.kind === "line" && at.file === file && at.line === line)

  // What is hottest is seen at first, and what is chosen when it is.
  useLayoutEffect(() => show(box.current, chosen ?? hottest?.line ?? [...regions.keys()][0] ?? null), [file, only])
  useLayoutEffect(() => show(box.current, chosen), [chosen])

  const toggle = (line: number): void => {
    const next = new Set(unfolded)
    if (!next.delete(line)) next.add(line)
    setUnfolded(next)
  }
  // What a chosen instruction was inlined from is seen below its line.
  const isUnfolded = (line: number): boolean =>
    unfolded.has(line) !== (line === chosen && (chosenInstruction.value?.[2].length ?? 0) > 1 && (lines.get(line)?.inlined ?? 0) > 0)
  const shared = { of, about, whole: counted(whole, focus), most, focus }
  return (
    <div
      class={of.sampling === null ? "listing unsampled" : "listing"}
      ref={box}
      role="table"
      style={{ "--count": countRoom(most) }}
      aria-label={`${cutMiddle(printable(about.path), 200)} by line`}
      onMouseLeave={() => {
        leave()
        point(null)
      }}
    >
      <div class="src head" role="row">
        {of.sampling === null ? null : (
          <>
            <span role="columnheader">samples</span>
            <span role="columnheader">share</span>
            <span role="columnheader" class="left" title="what warps waited for">reasons</span>
          </>
        )}
        <span role="columnheader">line</span>
        <span role="columnheader" class="left" title={cutMiddle(printable(about.path), 1000)}>{cutMiddle(printable(about.path), 120)}</span>
      </div>
      {rows.map((row) =>
        row.kind === "gap" ? (
          <Gap key={`gap ${row.first}`} row={row} onOpen={() => setOpened(new Set([...opened, row.first]))} />
        ) : (
          <Line
            key={row.line}
            {...shared}
            row={row}
            sum={lines.get(row.line) ?? null}
            regions={regions.get(row.line) ?? []}
            isChosen={row.line === chosen}
            isLinked={linked.chosen.has(row.line)}
            isPointed={isPointed(row.line)}
            isUnfolded={isUnfolded(row.line)}
            onToggle={() => toggle(row.line)}
            below={isUnfolded(row.line) ? inlinedInto(of, file, row.line, only) : []}
          />
        ),
      )}
    </div>
  )
}

/** Scroll to a line that is not seen. */
function show(box: HTMLElement | null, line: number | null): void {
  const row = line === null ? null : (box?.querySelector(`[data-line="${line}"]`) ?? null)
  if (box === null || row === null) return
  const [frame, edge] = [box.getBoundingClientRect(), row.getBoundingClientRect()]
  const isSeen = edge.top >= frame.top + edge.height && edge.bottom <= frame.bottom
  if (!isSeen) box.scrollTop += (edge.top + edge.bottom - frame.top - frame.bottom) / 2
}

/** Pixels that the largest count takes; "samples" stands above it. */
export function countRoom(most: number): string {
  return `${Math.max(58, 8 + 7.5 * grouped(most).length)}px`
}

function Gap({ row, onOpen }: { row: Extract<SourceRow, { kind: "gap" }>; onOpen(): void }): VNode {
  const words = `⋯ ${grouped(row.count)} line${row.count === 1 ? "" : "s"}`
  return (
    <div class="src gap-row" role="row">
      {row.isInPage ? (
        <button class="link" onClick={onOpen}>{words}</button>
      ) : (
        <span class="quiet" title="the page holds the lines around samples of very long files">{words} that are not in the page</span>
      )}
    </div>
  )
}

interface LineProps {
  of: SourcePart
  about: SourceFile
  /** Samples that shares are of, and those of the longest bar. */
  whole: number
  most: number
  focus: number | null
  row: Extract<SourceRow, { kind: "line" }>
  sum: LineSum | null
  regions: readonly RegionPlace[]
  isChosen: boolean
  /** A line of the chosen instruction; under the pointer, or of the instruction that is. */
  isLinked: boolean
  isPointed: boolean
  isUnfolded: boolean
  onToggle(): void
  below: readonly InlinedLine[]
}

function Line(props: LineProps): VNode {
  const { of, about, row, sum } = props
  const fits = matcher.value
  const file = of.files.indexOf(about)
  const classes = ["src"]
  if (sum !== null) classes.push("sampled")
  if (props.isPointed) classes.push("pointed")
  if (props.isLinked) classes.push("linked")
  if (props.isChosen) classes.push("chosen")
  if (fits !== null && row.text !== null && fits(row.text)) classes.push("hit")
  return (
    <>
      <div
        class={classes.join(" ")}
        role="row"
        data-line={row.line}
        aria-selected={props.isChosen}
        onClick={() => choose({ file, line: props.isChosen ? null : row.line, at: null, ...(sum === null ? {} : { sass: true }) })}
        onMouseMove={(event) => {
          point({ kind: "line", file, line: row.line })
          hover(event, sum === null ? null : <LineCard {...props} sum={sum} />)
        }}
      >
        <Cells {...props} sum={sum} />
        <span class="number" role="cell">{row.line === 0 ? "?" : row.line}</span>
        <code role="cell">
          {sum !== null && sum.inlined > 0 ? (
            <button
              class="fold"
              aria-expanded={props.isUnfolded}
              aria-label={`what was inlined into line ${row.line}`}
              title="what was inlined here"
              onClick={(event) => {
                event.stopPropagation()
                props.onToggle()
              }}
            >
              {props.isUnfolded ? "▾" : "▸"}
            </button>
          ) : null}
          {row.text ?? <span class="quiet">{row.line === 0 ? "no line known" : "no text"}</span>}
          {props.regions.map((region) => <RegionChip key={`${region[1]} ${region[2]}`} region={region} />)}
        </code>
      </div>
      {props.below.map((each, at) => (
        <Inlined key={at} {...props} each={each} />
      ))}
    </>
  )
}

/** A region that begins in a line, with its share of the kernel; a click shows it among the others. */
function RegionChip({ region: [, name, title, share] }: { region: RegionPlace }): VNode {
  return (
    <button
      class="region-chip"
      title={`a region of ${cutMiddle(printable(name), 100)}: see it in the view In-kernel`}
      onClick={(event) => {
        event.stopPropagation()
        selectKernel(name)
        view.value = "inkernel"
      }}
    >
      {cutMiddle(title, 40)}{share === null ? "" : ` ${text(percent(share))}`}
    </button>
  )
}

/** Samples, share and bar of a line; empty where nothing was sampled. */
function Cells({ of, sum, whole, most, focus }: Pick<LineProps, "of" | "whole" | "most" | "focus"> & { sum: Sum | null }): VNode | null {
  if (of.sampling === null) return null
  const samples = sum === null ? 0 : counted(sum, focus)
  if (sum === null || samples === 0) return <><span /><span /><span /></>
  return (
    <>
      <span class="count" role="cell">{grouped(samples)}</span>
      <span class="count" role="cell"><Num of={percent(samples / Math.max(whole, 1))} /></span>
      <span role="cell">
        <ReasonBar part={of} sum={focus === null ? sum : { ...sum, samples, reasons: [[focus, samples]] }} share={samples / most} focus={null} />
      </span>
    </>
  )
}

function Inlined(props: LineProps & { each: InlinedLine }): VNode {
  const { of, each } = props
  const [file, line] = of.places[each.place] ?? [0, 0]
  const name = of.functions[each.place] ?? ""
  const path = of.files[file]?.path ?? ""
  const isOf = (row: typeof chosenInstruction.value): boolean => row !== null && row[2].includes(each.place) && isOfLine(of, row, of.files.indexOf(props.about), props.row.line)
  const marks = `${isOf(chosenInstruction.value) ? " linked" : ""}${isOf(pointedInstruction.value) ? " pointed" : ""}`
  return (
    <div
      class={`src inlined${marks}`}
      role="row"
      onMouseMove={(event) => hover(event, <Card of={of} title={`${baseName(path)}:${line}`} sum={each} whole={props.whole} words={`inlined; in ${path}`} />)}
    >
      <Cells {...props} sum={each} />
      <span class="number" role="cell">{line}</span>
      <code role="cell" style={{ paddingLeft: `${1.4 + 1.4 * each.depth}em` }}>
        <span class="quiet">↳ {cutMiddle(printable(baseName(path)), 40)}{name === "" ? "" : ` ${cutMiddle(printable(name), 60)}`}</span>{"  "}
        {textOf(of.files[file], line)}
      </code>
    </div>
  )
}

function textOf(file: SourceFile | undefined, line: number): string {
  for (const [first, lines] of file?.chunks ?? []) {
    const found = lines[line - first]
    if (found !== undefined) return found.trim()
  }
  return ""
}

function LineCard({ of, about, row, sum, whole }: LineProps & { sum: LineSum }): VNode {
  const words = sum.inlined > 0 ? `${text(count(sum.inlined))} of them in functions inlined here` : ""
  return <Card of={of} title={`${baseName(about.path)}:${row.line}`} sum={sum} whole={whole} words={words} />
}

function Card(props: { of: SourcePart; title: string; sum: Sum; whole: number; words: string }): VNode {
  const { of, sum } = props
  return (
    <>
      <strong>{cutMiddle(printable(props.title), 120)}</strong>
      <p class="quiet">
        {text(count(sum.samples))} samples, {text(percent(sum.samples / Math.max(props.whole, 1)))} of the file
        {props.words === "" ? "" : `; ${cutMiddle(printable(props.words), 200)}`}
        {sum.latency > 0 ? `; in ${text(count(sum.latency))} the scheduler had nothing to issue` : ""}
      </p>
      <ReasonWords part={of} sum={sum} />
    </>
  )
}
