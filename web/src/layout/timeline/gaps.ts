/** How long a stream or device stood still in a window, by cause, whatever the number of gaps. */
import type { Gaps } from "./spans"
import { firstAtLeast } from "./spans"
import { firstPast } from "./nesting"

const BLOCK = 64

/** Sums of the gaps of one row: one row of causes for every 64 gaps, each with all before it. */
export class GapSums {
  readonly #blocks: Float64Array

  constructor(
    readonly gaps: Gaps,
    readonly causes: number,
  ) {
    const count = gaps.starts.length
    this.#blocks = new Float64Array((Math.floor(count / BLOCK) + 1) * causes)
    const running = new Float64Array(causes)
    for (let at = 0; at < count; at++) {
      if (at % BLOCK === 0) this.#blocks.set(running, (at / BLOCK) * causes)
      const cause = gaps.causes[at] as number
      running[cause] = (running[cause] as number) + (gaps.ends[at] as number) - (gaps.starts[at] as number)
    }
    if (count % BLOCK === 0) this.#blocks.set(running, (count / BLOCK) * causes)
  }

  /** Time by cause of the gaps from `from` up to `to`. */
  between(from: number, to: number): Float64Array {
    const { causes } = this
    const found = new Float64Array(causes)
    let at = from
    const first = Math.ceil(from / BLOCK)
    const last = Math.floor(to / BLOCK)
    if (first < last) {
      at = this.#add(found, from, first * BLOCK)
      for (let cause = 0; cause < causes; cause++) {
        const whole = (this.#blocks[last * causes + cause] as number) - (this.#blocks[first * causes + cause] as number)
        found[cause] = (found[cause] as number) + whole
      }
      at = last * BLOCK
    }
    this.#add(found, at, to)
    return found
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
    if (to - from === 1) {
      const ns = (this.gaps.ends[from] as number) - (this.gaps.starts[from] as number)
      return [this.gaps.causes[from] as number, ns, ns]
    }
    const sums = this.between(from, to)
    let [most, whole] = [0, 0]
    for (let cause = 0; cause < sums.length; cause++) {
      whole += sums[cause] as number
      if ((sums[cause] as number) > (sums[most] as number)) most = cause
    }
    return [most, sums[most] as number, whole]
  }

  #add(found: Float64Array, from: number, to: number): number {
    const { starts, ends, causes } = this.gaps
    for (let at = from; at < to; at++) {
      const cause = causes[at] as number
      found[cause] = (found[cause] as number) + (ends[at] as number) - (starts[at] as number)
    }
    return to
  }
}
