/** One instruction with its samples, and the lines that it stands in, one inlined into the next. */
import type { VNode } from "preact"
import { type Sum, placeOf } from "../../layout/source"
import { baseName, cutMiddle, printable } from "../../names"
import type { InstructionRow, SourcePart } from "../../schema"
import { count, grouped, percent, text } from "../../units"
import { Num } from "../widgets/facts"
import { hover } from "../widgets/hover"
import { ReasonBar, ReasonWords } from "./reasons"
import { choose, chooseInstruction, place, point } from "./source_state"

/** Pixels, as in the style. */
export const ROW_HEIGHT = 19
const COLD = 0.005 // of the kernel's samples; instructions with fewer are written faintly

interface RowProps {
  of: SourcePart
  instruction: InstructionRow
  /** Samples that shares are of, and those of the longest bar. */
  whole: number
  most: number
  isLinked: boolean
  isChosen: boolean
  isPointed: boolean
}

export function Row({ of, instruction, whole, most, isLinked, isChosen, isPointed }: RowProps): VNode {
  const [offset, words, , samples, latency, reasons] = instruction
  const sum: Sum = { samples, latency, reasons }
  const spot = placeOf(of, instruction, place.value?.file ?? null)
  const classes = ["ins"]
  if (samples < COLD * whole) classes.push("cold")
  if (isLinked) classes.push("linked")
  if (isPointed) classes.push("pointed")
  if (isChosen) classes.push("chosen")
  return (
    <div
      class={classes.join(" ")}
      role="row"
      data-offset={offset.toString(16)}
      aria-selected={isChosen}
      onClick={() => chooseInstruction(instruction)}
      onMouseMove={(event) => {
        point({ kind: "instruction", offset })
        hover(event, <Card of={of} instruction={instruction} sum={sum} whole={whole} />)
      }}
    >
      <span class="offset" role="cell">{offset.toString(16)}</span>
      <span class="count" role="cell">{samples === 0 ? "" : grouped(samples)}</span>
      <span class="count" role="cell">{samples === 0 ? null : <Num of={percent(samples / Math.max(whole, 1))} />}</span>
      <span role="cell">{samples === 0 ? null : <ReasonBar part={of} sum={sum} share={samples / most} focus={null} />}</span>
      <span class="number" role="cell">{spot === null ? "" : spot[1]}</span>
      <code role="cell" title={printable(words)}>{printable(words)}</code>
    </div>
  )
}

function Card({ of, instruction, sum, whole }: { of: SourcePart; instruction: InstructionRow; sum: Sum; whole: number }): VNode {
  const stack = instruction[2].map((at) => spotText(of, at))
  return (
    <>
      <strong>{printable(instruction[1])}</strong>
      <p class="quiet">
        {sum.samples === 0 ? "no samples" : `${text(count(sum.samples))} samples, ${text(percent(sum.samples / Math.max(whole, 1)))} of the kernel`}; {stack.length === 0 ? "no line known" : cutMiddle(printable(stack.join(" ‹ ")), 300)}
      </p>
      {sum.samples === 0 ? null : <ReasonWords part={of} sum={sum} />}
    </>
  )
}

/** `softmax.py:14` */
function spotText(of: SourcePart, at: number): string {
  const [file, line] = of.places[at] ?? [0, 0]
  return `${baseName(of.files[file]?.path ?? "")}:${line}`
}

/** Where an instruction stands, and what that was inlined into; a click goes there. */
export function Chain({ of, instruction }: { of: SourcePart; instruction: InstructionRow | null }): VNode {
  const places = instruction?.[2] ?? []
  return (
    <p class="sass-chain" aria-label="lines of the instruction">
      {instruction === null ? <span class="quiet">point at an instruction to see its line, or click it (n p)</span> : null}
      {instruction !== null && places.length === 0 ? <span class="quiet">no line of it is known</span> : null}
      {places.map((at, depth) => {
        const [file, line] = of.places[at] ?? [0, 0]
        const name = of.functions[at] ?? ""
        return (
          <span key={depth}>
            {depth === 0 ? "" : " ‹ "}
            <button class="link" title={`${cutMiddle(printable(of.files[file]?.path ?? ""), 300)}${depth === 0 ? "" : ": what is before it was inlined here"}`} onClick={() => choose({ file, line })}>
              {cutMiddle(printable(spotText(of, at)), 50)}
            </button>
            {name === "" ? null : <span class="quiet"> {cutMiddle(printable(name), 40)}</span>}
          </span>
        )
      })}
    </p>
  )
}
