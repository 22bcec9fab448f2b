/** Instructions of a kernel beside its source: all of them by address, those of the chosen line marked. */
import type { VNode } from "preact"
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { hottestOf, isOfLine, rowsInView } from "../../layout/source"
import { cutMiddle, printable } from "../../names"
import type { CodeOfKernel, InstructionRow, SourcePart } from "../../schema"
import { count, text } from "../../units"
import { useSize } from "../widgets/canvas_hooks"
import { leave } from "../widgets/hover"
import { countRoom } from "./listing"
import { Chain, ROW_HEIGHT, Row } from "./sass_row"
import { type ShownCode, choice, choose, chosenInstruction, place, point, pointed, pointedInstruction, shownCode } from "./source_state"

/** Whether the list leaves out the instructions of other lines. */
type Filter = "all" | "line"

export function Sass({ of }: { of: SourcePart }): VNode {
  const shown = shownCode.value
  if (shown === null) return <div class="sass"><p class="quiet">The file has no instructions of {place.value?.line == null ? "this kernel" : "this line"}.</p></div>
  return <Instructions key={`${shown.kernel} ${shown.number}`} of={of} shown={shown} />
}

function Instructions({ of, shown }: { of: SourcePart; shown: ShownCode }): VNode {
  const [filter, setFilter] = useState<Filter>("all")
  const { code } = shown
  const where = place.value
  const ofLine = useMemo(() => instructionsAt(of, code, where?.file ?? null, where?.line ?? null), [of, code, where?.file, where?.line])
  const rows = filter === "line" && ofLine !== null ? code.instructions.filter((each) => ofLine.has(each[0])) : code.instructions
  const known = useMemo(() => code.instructions.reduce((sum, each) => sum + each[3], 0), [code])
  return (
    <div class="sass" onMouseLeave={() => { leave(); point(null) }}>
      <Head of={of} shown={shown} ofLine={ofLine} filter={filter} onFilter={setFilter} />
      <Rows of={of} shown={shown} rows={rows} ofLine={ofLine} />
      <Chain of={of} instruction={chosenInstruction.value ?? pointedInstruction.value} />
      <p class="quiet sass-foot">
        {[
          code.listed === "" ? "" : `${code.listed}.`,
          code.samples > known ? `${text(count(code.samples - known))} samples in instructions that are not in the file.` : "",
          code.remark === "" ? "" : `${cutMiddle(printable(code.remark), 300)}.`,
        ].filter((each) => each !== "").join(" ")}
      </p>
    </div>
  )
}

/** Offsets of the instructions of a line; null where no line is chosen. */
function instructionsAt(of: SourcePart, code: CodeOfKernel, file: number | null, line: number | null): Set<number> | null {
  if (file === null || line === null) return null
  return new Set(code.instructions.filter((each) => isOfLine(of, each, file, line)).map((each) => each[0]))
}

interface HeadProps {
  of: SourcePart
  shown: ShownCode
  ofLine: ReadonlySet<number> | null
  filter: Filter
  onFilter(to: Filter): void
}

function Head({ of, shown, ofLine, filter, onFilter }: HeadProps): VNode {
  const { kernel, number, code } = shown
  const found = of.kernels[kernel] as SourcePart["kernels"][number]
  const line = place.value?.line ?? null
  return (
    <div class="sass-head">
      <strong title={cutMiddle(printable(code.symbol), 1000)}>{cutMiddle(found.title, 40)}</strong>
      <span class="quiet">
        {code.arch === null ? "" : `sm_${code.arch} · `}
        {text(count(code.instructions.length))} instructions
      </span>
      {found.codes.length > 1 ? (
        <select
          aria-label="compiled variant"
          value={String(number)}
          onChange={(event) => choose({ at: { kernel, code: Number(event.currentTarget.value), offset: null } })}
        >
          {found.codes.map((each, at) => (
            <option key={at} value={String(at)}>
              variant {at + 1} of {found.codes.length} – {text(count(each.samples))}
            </option>
          ))}
        </select>
      ) : null}
      <span class="gap" />
      {ofLine === null ? null : (
        <button class="toggle" aria-pressed={filter === "line"} title="leave out the instructions of other lines" onClick={() => onFilter(filter === "line" ? "all" : "line")}>
          only line {line} ({text(count(ofLine.size))})
        </button>
      )}
      <button class="close" aria-label="hide instructions" title="hide instructions (i)" onClick={() => choose({ sass: false })}>×</button>
    </div>
  )
}

/** The rows in view of a list that may have thousands. */
function Rows({ of, shown, rows, ofLine }: { of: SourcePart; shown: ShownCode; rows: readonly InstructionRow[]; ofLine: ReadonlySet<number> | null }): VNode {
  const box = useRef<HTMLDivElement>(null)
  const { height } = useSize(box)
  const [scroll, setScroll] = useState(0)
  const { code } = shown
  const most = useMemo(() => Math.max(1, ...code.instructions.map((each) => each[3])), [code])
  const chosen = chosenInstruction.value
  const line = place.value?.line ?? null
  // The chosen one is seen, else the hottest of the line, else the hottest of all.
  useLayoutEffect(() => {
    const inLine = ofLine === null ? rows : rows.filter((each) => ofLine.has(each[0]))
    const goal = chosen ?? hottestOf(inLine.length > 0 || ofLine !== null ? inLine : rows)
    if (box.current !== null && goal !== null) show(box.current, rows.indexOf(goal))
  }, [line, place.value?.file, choice.value.at?.offset, rows.length, height > 0])
  const [first, last] = rowsInView(rows.length, ROW_HEIGHT, scroll, height)
  const at = pointed.value
  const isPointed = (each: InstructionRow): boolean =>
    at !== null && (at.kind === "line" ? isOfLine(of, each, at.file, at.line) : each[0] === at.offset)
  return (
    <div
      class="sass-rows"
      ref={box}
      role="table"
      aria-label="instructions"
      aria-rowcount={rows.length}
      style={{ "--count": countRoom(most) }}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${first * ROW_HEIGHT}px` }} />
      {rows.slice(first, last).map((each) => (
        <Row
          key={each[0]}
          of={of}
          instruction={each}
          whole={code.samples}
          most={most}
          isLinked={ofLine?.has(each[0]) ?? false}
          isChosen={each === chosen}
          isPointed={isPointed(each)}
        />
      ))}
      <div style={{ height: `${(rows.length - last) * ROW_HEIGHT}px` }} />
      {rows.length === 0 ? <p class="quiet">none of its instructions belongs to this line</p> : null}
    </div>
  )
}

/** Scroll to a row that is not seen. */
function show(box: HTMLElement, row: number): void {
  const top = row * ROW_HEIGHT
  if (row >= 0 && (top < box.scrollTop || top + ROW_HEIGHT > box.scrollTop + box.clientHeight)) box.scrollTop = top - box.clientHeight / 2
}
