/** What a reader of source asks for, added up: lines of a file, what is inlined in one, instructions, regions. */
import type { InstructionRow, LinePlace, ReasonCount, RegionPlace, SourceFile, SourcePart } from "../schema"

/** Samples somewhere, with their reasons, the most frequent first. */
export interface Sum {
  samples: number
  latency: number
  reasons: ReasonCount[]
}

/** A line with what was inlined into it. */
export interface LineSum extends Sum {
  line: number
  /** Its samples in functions that were inlined there. */
  inlined: number
}

/** A line of a function that was inlined, below the line that it was inlined into. */
export interface InlinedLine extends Sum {
  place: number
  depth: number
}

class Adder {
  samples = 0
  latency = 0
  inlined = 0
  readonly #reasons = new Map<number, number>()

  add(samples: number, latency: number, reasons: ReasonCount[]): void {
    this.samples += samples
    this.latency += latency
    for (const [reason, count] of reasons) this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + count)
  }

  sum(): Sum {
    const reasons = [...this.#reasons].sort((a, b) => b[1] - a[1] || a[0] - b[0])
    return { samples: this.samples, latency: this.latency, reasons }
  }
}

/** Samples of a kernel, or of all kernels where it is null, whose places `fit`. */
function sumOf(part: SourcePart, kernel: number | null, fit: (places: number[]) => boolean): Sum {
  const adder = new Adder()
  for (const [of, places, samples, latency, reasons] of part.seen) {
    if ((kernel === null || of === kernel) && fit(places)) adder.add(samples, latency, reasons)
  }
  return adder.sum()
}

/** All samples of a kernel. */
export function kernelSum(part: SourcePart, kernel: number | null): Sum {
  return sumOf(part, kernel, () => true)
}

/** All samples on lines of a file, each once. */
export function fileSum(part: SourcePart, file: number, kernel: number | null): Sum {
  return sumOf(part, kernel, (places) => places.some((place) => part.places[place]?.[0] === file))
}

/** Samples in no line that is known. */
export function unplacedSum(part: SourcePart, kernel: number | null): Sum {
  return sumOf(part, kernel, (places) => places.length === 0)
}

/** The samples of every kernel. */
export function kernelSums(part: SourcePart): Sum[] {
  const adders = part.kernels.map(() => new Adder())
  for (const [of, , samples, latency, reasons] of part.seen) adders[of]?.add(samples, latency, reasons)
  return adders.map((adder) => adder.sum())
}

/** The lines of a file that have samples; one counts what was inlined there, and a sample once. */
export function linesOf(part: SourcePart, file: number, kernel: number | null): Map<number, LineSum> {
  const adders = new Map<number, Adder>()
  for (const [of, places, samples, latency, reasons] of part.seen) {
    if (kernel !== null && of !== kernel) continue
    const known = new Set<number>()
    for (let at = places.length - 1; at >= 0; at--) {
      const place = part.places[places[at] as number]
      if (place === undefined || place[0] !== file || known.has(place[1])) continue
      known.add(place[1])
      let adder = adders.get(place[1])
      if (adder === undefined) adders.set(place[1], (adder = new Adder()))
      adder.add(samples, latency, reasons)
      if (at > 0) adder.inlined += samples
    }
  }
  const lines = new Map<number, LineSum>()
  for (const [line, adder] of adders) lines.set(line, { line, inlined: adder.inlined, ...adder.sum() })
  return lines
}

/** Files with lines of a kernel, sampled or not: those that kernels are written in first, then by samples. */
export function filesOf(part: SourcePart, kernel: number | null): { file: number; samples: number }[] {
  const samplesOf = new Map<number, number>()
  for (const file of filesWithoutSamples(part, kernel)) samplesOf.set(file, 0)
  for (const [of, places, samples] of part.seen) {
    if (kernel !== null && of !== kernel) continue
    for (const file of new Set(places.map((place) => part.places[place]?.[0] ?? -1))) {
      samplesOf.set(file, (samplesOf.get(file) ?? 0) + samples)
    }
  }
  const found = [...samplesOf].map(([file, samples]) => ({ file, samples })).filter((each) => each.file >= 0)
  const isUser = (file: number): number => (part.files[file]?.is_user === true ? 0 : 1)
  return found.sort((a, b) => isUser(a.file) - isUser(b.file) || b.samples - a.samples || a.file - b.file)
}

const knownFiles = new WeakMap<SourcePart, Map<number | null, Set<number>>>()

/** Files that instructions or regions of a kernel are of; of all kernels every file. Found once, as codes are long. */
function filesWithoutSamples(part: SourcePart, kernel: number | null): Set<number> {
  if (kernel === null) return new Set(part.files.keys())
  const known = knownFiles.get(part) ?? new Map<number | null, Set<number>>()
  knownFiles.set(part, known)
  let files = known.get(kernel)
  if (files === undefined) {
    const places = new Set<number>()
    for (const code of part.kernels[kernel]?.codes ?? []) {
      for (const instruction of code.instructions) for (const place of instruction[2]) places.add(place)
    }
    for (const [place, name] of part.regions) if (name === part.kernels[kernel]?.name) places.add(place)
    known.set(kernel, (files = new Set([...places].map((place) => part.places[place]?.[0] ?? -1))))
  }
  return files
}

interface Branch {
  adder: Adder
  below: Map<number, Branch>
}

/** What was inlined into a line, as a tree in one list, the most samples first. */
export function inlinedInto(part: SourcePart, file: number, line: number, kernel: number | null): InlinedLine[] {
  const root: Branch = { adder: new Adder(), below: new Map() }
  for (const [of, places, samples, latency, reasons] of part.seen) {
    if (kernel !== null && of !== kernel) continue
    let at = places.length - 1
    for (; at >= 0; at--) {
      const place = part.places[places[at] as number]
      if (place?.[0] === file && place[1] === line) break
    }
    let branch = root
    for (at--; at >= 0; at--) {
      const place = places[at] as number
      let next = branch.below.get(place)
      if (next === undefined) branch.below.set(place, (next = { adder: new Adder(), below: new Map() }))
      next.adder.add(samples, latency, reasons)
      branch = next
    }
  }
  const lines: InlinedLine[] = []
  const visit = (branch: Branch, depth: number): void => {
    const ranked = [...branch.below].sort((a, b) => b[1].adder.samples - a[1].adder.samples || a[0] - b[0])
    for (const [place, next] of ranked) {
      lines.push({ place, depth, ...next.adder.sum() })
      visit(next, depth + 1)
    }
  }
  visit(root, 0)
  return lines
}

/** The regions of a file by line, those of the kernels with most cycles first; one of a name for each kernel. */
export function regionsOf(part: SourcePart, file: number): Map<number, RegionPlace[]> {
  const found = new Map<number, RegionPlace[]>()
  for (const region of part.regions) {
    const [of, line] = part.places[region[0]] ?? [-1, 0]
    if (of !== file) continue
    const here = found.get(line)
    if (here === undefined) found.set(line, [region])
    else if (!here.some((each) => each[1] === region[1] && each[2] === region[2])) here.push(region)
  }
  return found
}

// ---- lines and instructions, each from the other ----

/** An instruction: of which kernel, of which of its codes, and where in it; null: none of them. */
export interface At {
  kernel: number
  code: number
  offset: number | null
}

/** Whether an instruction is of a line, or of something that was inlined there. */
export function isOfLine(part: SourcePart, instruction: InstructionRow, file: number, line: number): boolean {
  return instruction[2].some((at) => part.places[at]?.[0] === file && part.places[at]?.[1] === line)
}

/** The line that an instruction stands for: the outermost in `file`, else the outermost; null where none is known. */
export function placeOf(part: SourcePart, instruction: InstructionRow, file: number | null): LinePlace | null {
  const stack = instruction[2].map((at) => part.places[at]).filter((each) => each !== undefined)
  return stack.findLast((each) => each[0] === file) ?? stack.at(-1) ?? null
}

/** The lines of a file that an instruction is of: where it stands, and what that was inlined into. */
export function linesOfInstruction(part: SourcePart, instruction: InstructionRow, file: number): Set<number> {
  const stack = instruction[2].map((at) => part.places[at])
  return new Set(stack.filter((each) => each?.[0] === file).map((each) => (each as LinePlace)[1]))
}

/** The kernel with the most samples in a place, or in all, among those whose instructions are known. */
export function kernelAt(part: SourcePart, place: { file: number; line: number | null } | null): number | null {
  let [best, most] = [null as number | null, -1]
  part.kernels.forEach((each, at) => {
    if (each.codes.length === 0) return
    const sum = (): number =>
      place === null
        ? each.samples
        : place.line === null
          ? fileSum(part, place.file, at).samples
          : (linesOf(part, place.file, at).get(place.line)?.samples ?? 0)
    const samples = sum()
    if (samples > most) [best, most] = [at, samples]
  })
  return best
}

/** The instruction with most samples; null where there is none. */
export function hottestOf(rows: readonly InstructionRow[]): InstructionRow | null {
  return rows.reduce<InstructionRow | null>((best, each) => (best === null || each[3] > best[3] ? each : best), null)
}

/** The first and the last row of a long list that are worth drawing, with some more on both sides. */
export function rowsInView(count: number, rowHeight: number, scroll: number, height: number): [number, number] {
  const more = 12
  const first = Math.max(0, Math.floor(scroll / rowHeight) - more)
  return [Math.min(first, count), Math.min(count, Math.ceil((scroll + height) / rowHeight) + more)]
}

/** What stands in the margin and in the text: a line, or lines that are left out. */
export type SourceRow =
  | { kind: "line"; line: number; text: string | null }
  | { kind: "gap"; first: number; count: number; isInPage: boolean }

const WHOLE_FILE = 400 // lines that are shown without asking
const AROUND = 12 // lines before and after one with samples

/** The rows of a file; long files have gaps, but for the lines of `opened` ones. */
export function rowsOf(
  file: SourceFile,
  lines: ReadonlyMap<number, unknown>,
  opened: ReadonlySet<number> = new Set(),
): SourceRow[] {
  const texts = new Map<number, string>()
  for (const [first, chunk] of file.chunks) chunk.forEach((text, at) => texts.set(first + at, text))
  const numbers = new Set<number>(lines.keys())
  const isLong = file.count > WHOLE_FILE
  for (const line of texts.keys()) if (!isLong) numbers.add(line)
  if (isLong) {
    for (const line of lines.keys()) {
      for (let near = line - AROUND; near <= line + AROUND; near++) if (texts.has(near)) numbers.add(near)
    }
    // A gap is opened by its first line, and ends at the next line that is shown.
    for (const first of opened) for (let line = first; texts.has(line) && !numbers.has(line); line++) numbers.add(line)
  }
  const rows: SourceRow[] = []
  let before = 0
  for (const line of [...numbers].sort((a, b) => a - b)) {
    if (file.count > 0 && line > before + 1 && before + 1 <= file.count) {
      const count = Math.min(line, file.count + 1) - before - 1
      if (count > 0) rows.push({ kind: "gap", first: before + 1, count, isInPage: texts.has(before + 1) })
    }
    rows.push({ kind: "line", line, text: texts.get(line) ?? null })
    before = line
  }
  if (before < file.count) {
    rows.push({ kind: "gap", first: before + 1, count: file.count - before, isInPage: texts.has(before + 1) })
  }
  return rows
}

/** In place of a reason: the less frequent ones together; samples that have none, as their warp was issued. */
export const OTHERS = -1
export const NO_REASON = -2

/** Pieces of a bar: samples without a reason, then the most frequent reasons, then the others as one. */
export function barOf(sum: Sum, most: number): { reason: number; samples: number; share: number }[] {
  const piece = (reason: number, samples: number): { reason: number; samples: number; share: number } => ({ reason, samples, share: samples / sum.samples })
  const added = (reasons: Sum["reasons"]): number => reasons.reduce((all, [, count]) => all + count, 0)
  const [without, others] = [sum.samples - added(sum.reasons), added(sum.reasons.slice(most))]
  return [
    ...(without > 1e-9 * sum.samples ? [piece(NO_REASON, without)] : []),
    ...sum.reasons.slice(0, most).map(([reason, count]) => piece(reason, count)),
    ...(others > 1e-9 * sum.samples ? [piece(OTHERS, others)] : []),
  ]
}
