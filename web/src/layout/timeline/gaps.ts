/** How long a stream or device stood still in a window, by cause, whatever the number of gaps. */
import type { Gaps } from "./spans"
import { firstAtLeast } from "./spans"
import { firstPast } from "./nesting"

/** Sums of the gaps of one row. */
export class GapSums {
  /** A row of causes for each gap, with the time of all gaps before it, and one more at the end. */
  readonly #before: Float64Array

  constructor(
    readonly gaps: Gaps,
    readonly causes: number,
  ) {
    const count = gaps.starts.length
    this.#before = new Float64Array((count + 1) * causes)
    for (let at = 0; at < count; at++) {
      const next = (at + 1) * causes
      this.#before.copyWithin(next, at * causes, next)
      const cause = next + (gaps.causes[at] as number)
      this.#before[cause] = (this.#before[cause] as number) + (gaps.ends[at] as number) - (gaps.starts[at] as number)
    }
  }

  /** Time by cause of the gaps from `from` up to `to`. */
  between(from: number, to: number): Float64Array {
    const { causes } = this
    return this.#before.slice(to * causes, (to + 1) * causes).map((sum, cause) => sum - (this.#before[from * causes + cause] as number))
  }

  /** The same for a window of time, gaps at its edges cut. */
  inWindow(from: number, to: number): Float64Array {
    const { starts, ends, causes } = this.gaps
    const first = firstPast(ends, from)
    const end = firstAtLeast(starts, to)
    if (first >= end) return new Float64Array(this.causes)
    const found = this.between(first, end)
    const before = from - (starts[first] as number)
    const after = (ends[end - 1] as number) - to
    const [head, tail] = [causes[first] as number, causes[end - 1] as number]
    if (before > 0) found[head] = (found[head] as number) - before
    if (after > 0) found[tail] = (found[tail] as number) - after
    return found
  }

  /** Among the gaps from `from` up to `to`: the cause with the most time, that time, and all time. */
  mostOf(from: number, to: number): [cause: number, ns: number, whole: number] {
    const sums = this.between(from, to)
    let [most, whole] = [0, 0]
    for (let cause = 0; cause < sums.length; cause++) {
      whole += sums[cause] as number
      if ((sums[cause] as number) > (sums[most] as number)) most = cause
    }
    return [most, sums[most] as number, whole]
  }
}
