/** Times along the width of a picture: what is seen of them, moved and zoomed, and round numbers below. */

export type Range = readonly [from: number, to: number]

const LEAST_NS = 1

/** `range` made `factor` times as long around `time`, within `whole`. */
export function zoomed(range: Range, factor: number, time: number, whole: Range): Range {
  const length = Math.min(Math.max((range[1] - range[0]) * factor, LEAST_NS), whole[1] - whole[0])
  const share = (time - range[0]) / Math.max(range[1] - range[0], 1e-9)
  return within([time - share * length, time + (1 - share) * length], whole)
}

/** `range` moved by `step`, within `whole`. */
export function moved(range: Range, step: number, whole: Range): Range {
  return within([range[0] + step, range[1] + step], whole)
}

/** What an address says is seen, as far as there is such a time; all where it says nothing. */
export function rangeIn(range: Range | null, whole: Range): Range {
  if (range === null) return whole
  const [from, to] = [Math.max(range[0], whole[0]), Math.min(range[1], whole[1])]
  return from < to ? [from, to] : whole
}

function within(range: Range, whole: Range): Range {
  const length = Math.min(range[1] - range[0], whole[1] - whole[0])
  const from = Math.min(Math.max(range[0], whole[0]), whole[1] - length)
  return [from, from + length]
}

/** Round times in a range, about `count` of them, and how far they are apart. */
export function ticksOf([from, to]: Range, count: number): { step: number; times: number[] } {
  const rough = (to - from) / count
  const times: number[] = []
  if (!(rough > 0)) return { step: 0, times }
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power
  for (let at = Math.ceil(from / step); at * step <= to; at++) times.push(at * step)
  return { step, times }
}
