/** What a reader of source asks for, added up: lines of a file, what is inlined in one, instructions. */
import type { InstructionRow, ReasonCount, SourceFile, SourcePart } from "../schema"

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

/** Files with samples of a kernel: those that kernels are written in first, then by samples. */
export function filesOf(part: SourcePart, kernel: number | null): { file: number; samples: number }[] {
  const samplesOf = new Map<number, number>()
  for (const [of, places, samples] of part.seen) {
    if (kernel !== null && of !== kernel) continue
    for (const file of new Set(places.map((place) => part.places[place]?.[0] ?? -1))) {
      samplesOf.set(file, (samplesOf.get(file) ?? 0) + samples)
    }
  }
  const found = [...samplesOf].map(([file, samples]) => ({ file, samples })).filter((each) => each.samples > 0)
  const isUser = (file: number): number => (part.files[file]?.is_user === true ? 0 : 1)
  return found.sort((a, b) => isUser(a.file) - isUser(b.file) || b.samples - a.samples || a.file - b.file)
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

/** One instruction with the code that it is of. */
export interface Shown {
  code: number
  instruction: InstructionRow
}

/** The instructions of a kernel by address; with a line only those of it and of what it inlines. */
export function instructionsOf(
  part: SourcePart,
  kernel: number,
  where: { file: number; line: number } | null,
): Shown[] {
  const found: Shown[] = []
  part.kernels[kernel]?.codes.forEach((each, code) => {
    for (const instruction of each.instructions) {
      const isWanted =
        where === null ||
        instruction[2].some((at) => part.places[at]?.[0] === where.file && part.places[at]?.[1] === where.line)
      if (isWanted) found.push({ code, instruction })
    }
  })
  return found
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
