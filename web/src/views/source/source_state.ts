/** Which kernel, file, line and instruction the source view shows: from the selection, its own choices, and the samples. */
import { computed, signal } from "@preact/signals"
import { type At, filesOf, hottestOf, isOfLine, kernelAt, linesOfInstruction, placeOf } from "../../layout/source"
import type { Profile } from "../../model"
import type { CodeOfKernel, InstructionRow, SourcePart } from "../../schema"
import { profile, selectKernel, selectedKernel, selectedRow, selection, setZoom, zoom } from "../../state"

const ID = "source"

/** What the view remembers: numbers of the part; null where nothing was chosen. */
export interface Choice {
  file: number | null
  line: number | null
  sass: boolean
  at: At | null
}

export function readChoice(text: string): Choice {
  const found = /^(\d{0,6})\.(\d{0,9})\.([01])(?:\.(\d{1,6})-(\d{1,6})-([0-9a-f]{0,8}))?$/.exec(text)
  const number = (part: string | undefined, base = 10): number | null => (part === undefined || part === "" ? null : Number.parseInt(part, base))
  const [kernel, code] = [number(found?.[4]), number(found?.[5])]
  const at = kernel === null || code === null ? null : { kernel, code, offset: number(found?.[6], 16) }
  return { file: number(found?.[1]), line: number(found?.[2]), sass: found?.[3] === "1", at }
}

export function writeChoice({ file, line, sass, at }: Choice): string {
  if (file === null && line === null && !sass && at === null) return ""
  const chosen = at === null ? "" : `.${at.kernel}-${at.code}-${at.offset?.toString(16) ?? ""}`
  return `${file ?? ""}.${line ?? ""}.${sass ? 1 : 0}${chosen}`
}

export const choice = computed<Choice>(() => readChoice(zoom.value[ID] ?? ""))

export function choose(change: Partial<Choice>, step = false): void {
  setZoom(ID, writeChoice({ ...choice.value, ...change }), step)
}

export const part = computed<SourcePart | null>(() => profile.value?.parts.sampled ?? null)

/** The kernel whose samples are shown; null for all. A selected line is that of its kernel. */
export const kernel = computed<number | null>(() => {
  const [shown, samples] = [profile.value, part.value]
  if (shown === null || samples === null) return null
  const name = selectedKernel.value ?? lineSelected(shown)?.kernel ?? null
  const at = samples.kernels.findIndex((each) => each.name === name)
  return at < 0 ? null : at
})

export interface Place {
  file: number
  line: number | null
}

/** The file that is shown and the line that is chosen in it; null where no line of the kernel is known. */
export const place = computed<Place | null>(() => {
  const [shown, samples] = [profile.value, part.value]
  if (shown === null || samples === null) return null
  const known = filesOf(samples, kernel.value)
  const has = (file: number): boolean => known.some((each) => each.file === file)
  const { file, line } = choice.value
  if (file !== null && has(file)) return { file, line }
  const selected = lineSelected(shown)
  if (selected !== null) {
    const at = samples.files.findIndex((each) => each.path === selected.file)
    if (at >= 0 && has(at)) return { file: at, line: selected.line }
  }
  return known[0] === undefined ? null : { file: known[0].file, line: null }
})

/** The selection where it is a sampled line of the tree: `file:line@function` below its kernel. */
function lineSelected(shown: Profile): { file: string; line: number; kernel: string } | null {
  const row = selectedRow.value
  if (row === null || shown.kind(row) !== "l") return null
  const found = /^(.+):(\d{1,9})@/s.exec(shown.rawName(row))
  let above = row
  while (above > 0 && shown.kind(above) === "l") above = shown.parents[above] as number
  return found === null ? null : { file: found[1] as string, line: Number(found[2]), kernel: shown.rawName(above) }
}

/** Show the samples of one kernel, or of all. */
export function showKernel(at: number | null): void {
  const name = at === null ? undefined : part.value?.kernels[at]?.name
  choose({ line: null, at: null })
  if (name === undefined) selection.value = null
  else selectKernel(name)
}

/** The code whose instructions are shown beside the text. */
export interface ShownCode {
  kernel: number
  /** Its number among the codes of the kernel. */
  number: number
  code: CodeOfKernel
}

/** The chosen kernel's code, else that of the chosen instruction, else of the kernel with most samples in the place. */
export const shownCode = computed<ShownCode | null>(() => {
  const samples = part.value
  if (samples === null) return null
  const { at } = choice.value
  const of = kernel.value ?? at?.kernel ?? kernelAt(samples, place.value)
  const codes = of === null ? undefined : samples.kernels[of]?.codes
  if (of === null || codes === undefined || codes.length === 0) return null
  const number = at !== null && at.kernel === of && at.code < codes.length ? at.code : 0
  return { kernel: of, number, code: codes[number] as CodeOfKernel }
})

/** The instruction that is chosen in what is shown; null where none is. */
export const chosenInstruction = computed<InstructionRow | null>(() => {
  const [shown, at] = [shownCode.value, choice.value.at]
  if (shown === null || at === null || at.kernel !== shown.kernel || at.code !== shown.number) return null
  return shown.code.instructions.find((each) => each[0] === at.offset) ?? null
})

/** What the pointer is on: a line, or an instruction of the code that is shown. */
export type Pointed = { kind: "line"; file: number; line: number } | { kind: "instruction"; offset: number }
export const pointed = signal<Pointed | null>(null)

export function point(to: Pointed | null): void {
  const was = pointed.value
  const isSame = was?.kind === to?.kind && JSON.stringify(was) === JSON.stringify(to)
  if (!isSame) pointed.value = to
}

/** The instruction under the pointer. */
export const pointedInstruction = computed<InstructionRow | null>(() => {
  const [at, shown] = [pointed.value, shownCode.value]
  if (at?.kind !== "instruction" || shown === null) return null
  return shown.code.instructions.find((each) => each[0] === at.offset) ?? null
})

/** Choose an instruction, and the line that it is of: in the file that is shown, where it has one there. */
export function chooseInstruction(row: InstructionRow): void {
  const [samples, shown] = [part.value, shownCode.value]
  if (samples === null || shown === null) return
  const to = placeOf(samples, row, place.value?.file ?? null)
  choose({ sass: true, at: { kernel: shown.kernel, code: shown.number, offset: row[0] }, ...(to === null ? { line: null } : { file: to[0], line: to[1] }) })
}

/** To the instruction below or above the chosen one; at first to the hottest of the line, or of all. */
export function stepInstruction(step: number): void {
  const [samples, rows, where, chosen] = [part.value, shownCode.value?.code.instructions ?? [], place.value, chosenInstruction.value]
  if (samples === null) return
  const { file, line } = { file: where?.file ?? -1, line: where?.line ?? null }
  const first = (): InstructionRow | null => hottestOf(line === null ? rows : rows.filter((each) => isOfLine(samples, each, file, line)))
  const next = chosen === null ? first() : rows[rows.indexOf(chosen) + step]
  if (next !== undefined && next !== null) chooseInstruction(next)
}

/** The lines of a file that the pointer's instruction is of, or the chosen one; empty for none. */
export function linkedLines(of: SourcePart, file: number): { pointed: ReadonlySet<number>; chosen: ReadonlySet<number> } {
  const linesOf = (row: InstructionRow | null): ReadonlySet<number> => (row === null ? new Set() : linesOfInstruction(of, row, file))
  return { pointed: linesOf(pointedInstruction.value), chosen: linesOf(chosenInstruction.value) }
}
