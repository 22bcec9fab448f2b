/** Instructions of a kernel beside its source: by address, with samples and what warps waited for. */
import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { type Shown, type Sum, instructionsOf, linesOf } from "../../layout/source"
import { baseName, cutMiddle, printable } from "../../names"
import type { SourcePart } from "../../schema"
import { count, grouped, percent, text } from "../../units"
import { Num } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { countRoom } from "./listing"
import { ReasonBar, ReasonWords } from "./reasons"
import { choose, kernel } from "./source_state"

const COLD = 0.005 // of the kernel's samples; instructions with fewer are written faintly

interface SassProps {
  of: SourcePart
  file: number | null
  /** Only the instructions of this line; null for all. */
  line: number | null
}

/** The kernel whose instructions are shown: the chosen one, else that with the most samples there. */
function kernelFor(of: SourcePart, file: number | null, line: number | null): number | null {
  if (kernel.value !== null) return kernel.value
  let [best, most] = [null as number | null, 0]
  of.kernels.forEach((each, at) => {
    if (each.codes.length === 0) return
    const lines = file === null ? null : linesOf(of, file, at)
    const samples = lines === null ? each.samples : line === null ? sumOf(lines) : (lines.get(line)?.samples ?? 0)
    if (samples > most) [best, most] = [at, samples]
  })
  return best
}

function sumOf(lines: Map<number, { samples: number }>): number {
  let sum = 0
  for (const each of lines.values()) sum += each.samples
  return sum
}

export function Sass({ of, file, line }: SassProps): VNode {
  const [chosenCode, setCode] = useState(0)
  const rows = useRef<HTMLDivElement>(null)
  const at = kernelFor(of, file, line)
  useLayoutEffect(() => {
    // The hottest one is seen.
    const hottest = rows.current?.querySelector<HTMLElement>(".hottest")
    if (rows.current === null || hottest == null) return
    rows.current.scrollTop = hottest.offsetTop - rows.current.offsetTop - rows.current.clientHeight / 2
  }, [at, file, line, chosenCode])
  const found = at === null ? undefined : of.kernels[at]
  if (at === null || found === undefined || found.codes.length === 0) {
    return <div class="sass"><p class="quiet">no instruction of {line === null ? "this kernel" : "this line"} was recorded</p></div>
  }
  const codeAt = Math.min(chosenCode, found.codes.length - 1)
  const code = found.codes[codeAt] as SourcePart["kernels"][number]["codes"][number]
  const where = file === null || line === null ? null : { file, line }
  const shown = instructionsOf(of, at, where).filter((each) => each.code === codeAt)
  const most = Math.max(1, ...code.instructions.map((each) => each[3]))
  const hottest = Math.max(0, ...shown.map((each) => each.instruction[3]))
  const known = code.instructions.reduce((sum, each) => sum + each[3], 0)
  return (
    <div class={where === null ? "sass" : "sass of-line"} onMouseLeave={leave}>
      <div class="sass-head">
        <strong title={cutMiddle(printable(code.symbol), 1000)}>{cutMiddle(found.title, 40)}</strong>
        <span class="quiet">
          {code.arch === null ? "" : `sm_${code.arch} · `}
          {where === null ? "hottest instructions" : `line ${where.line}`}
        </span>
        {found.codes.length > 1 ? (
          <select aria-label="compiled variant" value={String(codeAt)} onChange={(event) => setCode(Number(event.currentTarget.value))}>
            {found.codes.map((each, number) => (
              <option key={number} value={String(number)}>
                variant {number + 1} of {found.codes.length} – {text(count(each.samples))}
              </option>
            ))}
          </select>
        ) : null}
        <span class="gap" />
        {where === null ? null : <button class="link" onClick={() => choose({ line: null })}>hottest of the kernel</button>}
        <button class="close" aria-label="hide instructions" title="hide instructions (i)" onClick={() => choose({ sass: false })}>×</button>
      </div>
      <div class="sass-rows" ref={rows} role="table" aria-label="instructions" style={{ "--count": countRoom(most) }}>
        {shown.map((each) => (
          <Row key={each.instruction[0]} of={of} each={each} whole={code.samples} most={most} isOfLine={where !== null} isHottest={each.instruction[3] === hottest} />
        ))}
        {shown.length === 0 ? <p class="quiet">none of its hottest instructions belongs to this line</p> : null}
      </div>
      <p class="quiet sass-foot">
        {code.samples > known ? `${text(count(code.samples - known))} samples in instructions that are not shown. ` : ""}
        {cutMiddle(printable(code.remark), 300)}
      </p>
    </div>
  )
}

function Row(props: { of: SourcePart; each: Shown; whole: number; most: number; isOfLine: boolean; isHottest: boolean }): VNode {
  const { of, each, whole, most } = props
  const [offset, words, places, samples, latency, reasons] = each.instruction
  const sum: Sum = { samples, latency, reasons }
  const outer = places.at(-1)
  const spot = outer === undefined ? undefined : of.places[outer]
  const stack = places.map((at) => `${baseName(of.files[of.places[at]?.[0] ?? 0]?.path ?? "")}:${of.places[at]?.[1] ?? 0}`)
  const go = (): void => {
    if (spot !== undefined) choose({ file: spot[0], line: spot[1] })
  }
  return (
    <div
      class={props.isHottest ? "ins hottest" : samples < COLD * whole ? "ins cold" : "ins"}
      role="row"
      onClick={go}
      onMouseMove={(event) =>
        hover(
          event,
          <>
            <strong>{printable(words)}</strong>
            <p class="quiet">
              {text(count(samples))} samples, {text(percent(samples / Math.max(whole, 1)))} of the kernel; {stack.length === 0 ? "no line known" : cutMiddle(printable(stack.join(" ‹ ")), 300)}
            </p>
            <ReasonWords part={of} sum={sum} />
          </>,
        )
      }
    >
      <span class="offset">{offset.toString(16)}</span>
      <span class="count">{grouped(samples)}</span>
      <span class="count"><Num of={percent(samples / Math.max(whole, 1))} /></span>
      <ReasonBar part={of} sum={sum} share={samples / most} focus={null} />
      {props.isOfLine ? null : <span class="number">{spot === undefined ? "" : spot[1]}</span>}
      <code title={printable(words)}>{printable(words)}</code>
    </div>
  )
}
