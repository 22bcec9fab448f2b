/** Which kernel, file and line the source view shows: from the selection, its own choices, and the samples. */
import { computed } from "@preact/signals"
import { filesOf } from "../../layout/source"
import type { Profile } from "../../model"
import type { SourcePart } from "../../schema"
import { profile, selectKernel, selectedKernel, selectedRow, selection, setZoom, zoom } from "../../state"

const ID = "source"

/** What the view remembers: numbers of the part; null where nothing was chosen. */
export interface Choice {
  file: number | null
  line: number | null
  sass: boolean
}

export function readChoice(text: string): Choice {
  const found = /^(\d{0,6})\.(\d{0,9})\.([01])$/.exec(text)
  const number = (part: string | undefined): number | null => (part === undefined || part === "" ? null : Number(part))
  return { file: number(found?.[1]), line: number(found?.[2]), sass: found?.[3] === "1" }
}

export function writeChoice(choice: Choice): string {
  if (choice.file === null && choice.line === null && !choice.sass) return ""
  return `${choice.file ?? ""}.${choice.line ?? ""}.${choice.sass ? 1 : 0}`
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
  choose({ line: null })
  if (name === undefined) selection.value = null
  else selectKernel(name)
}
