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

function within(range: Range, whole: Range): Range {
  const length = Math.min(range[1] - range[0], whole[1] - whole[0])
  const from = Math.min(Math.max(range[0], whole[0]), whole[1] - length)
  return [from, from + length]
}

/** Round times in a range, about `count` of them. */
export function ticksOf(range: Range, count: number): number[] {
  const length = range[1] - range[0]
  if (!(length > 0) || count < 1) return []
  const rough = length / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power
  const ticks: number[] = []
  for (let at = Math.ceil(range[0] / step); at * step <= range[1]; at++) ticks.push(at * step)
  return ticks
}
