/** Which contexts of two profiles are the same: those on a path of the same names. */
import type { Shape } from "../groups"

export interface Named extends Shape {
  nameOf(box: number): string
}

/** For every box of `one` that of `other` on the same path, -1 where there is none. Of siblings with one name, the first is the first. */
export function pairsOf(one: Named, other: Named): Int32Array {
  const pairs = new Int32Array(one.size).fill(-1)
  if (one.size > 0 && other.size > 0) pairs[0] = 0
  for (let box = 0; box < one.size; box++) {
    const twin = pairs[box] as number
    if (twin < 0 || (one.ends[box] as number) === box + 1) continue
    const known = new Map(keyed(other, twin))
    for (const [key, child] of keyed(one, box)) pairs[child] = known.get(key) ?? -1
  }
  return pairs
}

/** The children of a box by name, with a number behind it. */
function* keyed(of: Named, box: number): Iterable<[string, number]> {
  const times = new Map<string, number>()
  for (let at = box + 1; at < (of.ends[box] as number); at = of.ends[at] as number) {
    const name = of.nameOf(at)
    const time = times.get(name) ?? 0
    times.set(name, time + 1)
    yield [`${time} ${name}`, at]
  }
}
