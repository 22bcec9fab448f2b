/** Names in the room that a column has: which letters are shown, so that rows of one table stay distinct.
 *
 * The whole name stays in the page, where it can be found, copied and read aloud; letters that do not
 * fit are there without being seen.
 */
import { withoutNamespaces } from "../names"

/** A piece of a name; of what is not shown, all but namespaces is marked by an ellipsis in its place. */
export interface Piece {
  text: string
  isShown: boolean
  isMarked: boolean
}

type Range = readonly [number, number]

const ELLIPSIS = "…"
const DEEPEST = 6

/** The names in the room that each has, in letters. */
export function layoutLabels(names: readonly string[], roomOf: (name: string) => number): Piece[][] {
  const starts = startsOf(names, roomOf)
  const kept = cutDistinct(names.map((name, at) => name.slice(starts[at])), (at) => roomOf(names[at] as string), 0)
  return names.map((name, at) => piecesOf(name, starts[at] as number, kept[at] as Range[]))
}

/** Where names begin: a namespace that one name has no room for is left out of all that have it. */
function startsOf(texts: readonly string[], roomOf: (text: string) => number): number[] {
  const spaces = texts.map((text) => text.slice(0, text.length - withoutNamespaces(text).length))
  const left = new Set(spaces.filter((_, at) => (texts[at] as string).length > roomOf(texts[at] as string)))
  const starts = spaces.map((space) => (left.has(space) ? space.length : 0))
  // The name without its namespace may be another's.
  const many = new Map<string, number>()
  const short = (at: number): string => (texts[at] as string).slice(starts[at])
  for (const at of new Map(texts.map((text, at) => [text, at])).values()) many.set(short(at), (many.get(short(at)) ?? 0) + 1)
  return starts.map((start, at) => ((many.get(short(at)) ?? 0) > 1 ? 0 : start))
}

/** What is kept of each text: its ends, and of those that would look the same also what differs. */
function cutDistinct(texts: readonly string[], roomOf: (at: number) => number, depth: number): Range[][] {
  const kept = texts.map((text, at) => cutMiddle(text, roomOf(at)))
  const alike = new Map<string, number[]>()
  kept.forEach((ranges, at) => {
    const label = labelOf(texts[at] as string, ranges)
    const group = alike.get(label)
    if (group === undefined) alike.set(label, [at])
    else group.push(at)
  })
  for (const group of alike.values()) {
    if (new Set(group.map((at) => texts[at])).size < 2 || depth === DEEPEST) continue
    const own = group.map((at) => texts[at] as string)
    const room = Math.min(...group.map(roomOf))
    keepDifferences(own, room, depth).forEach((ranges, place) => (kept[group[place] as number] = ranges))
  }
  return kept
}

/** Of texts that begin and end alike: a little of both, and what is between. */
function keepDifferences(texts: readonly string[], room: number, depth: number): Range[][] {
  const head = commonHead(texts)
  const tail = Math.min(commonHead(texts.map(reversed)), Math.min(...texts.map((text) => text.length)) - head)
  const start = Math.max(0, head - wordBefore((texts[0] as string).slice(0, head)))
  const cores = texts.map((text) => text.slice(start, text.length - tail))
  const longest = Math.max(...cores.map((core) => core.length))
  const spare = room - 2
  const before = Math.min(start, Math.max(4, Math.min(Math.floor(spare / 3), spare - longest)))
  const after = Math.min(tail, Math.max(0, spare - before - longest))
  const inner = cutDistinct(cores, () => Math.max(3, spare - before - after), depth + 1)
  return texts.map((text, at) =>
    merged([[0, before], ...(inner[at] as Range[]).map(([from, to]): Range => [from + start, to + start]), [text.length - after, text.length]]),
  )
}

function commonHead(texts: readonly string[]): number {
  const [first = "", ...others] = texts
  let at = 0
  while (at < first.length && others.every((text) => text[at] === first[at])) at++
  return at
}

function reversed(text: string): string {
  return text.split("").reverse().join("")
}

/** Letters of a word that a text ends in, a few at most: `…tile32` reads better than `…2`. */
function wordBefore(text: string): number {
  return /[A-Za-z0-9]{0,6}$/.exec(text)?.[0].length ?? 0
}

function cutMiddle(text: string, room: number): Range[] {
  if (text.length <= room) return [[0, text.length]]
  const tail = Math.max(room - 1, 0) >> 1
  return [[0, Math.max(room - 1, 0) - tail], [text.length - tail, text.length]]
}

function merged(ranges: readonly Range[]): Range[] {
  const found: [number, number][] = []
  for (const [from, to] of ranges) {
    const last = found.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else if (to > from) found.push([from, to])
  }
  return found
}

function labelOf(text: string, ranges: readonly Range[]): string {
  return ranges.map(([from, to]) => text.slice(from, to)).join(ELLIPSIS)
}

/** The name in pieces: what is in front of `start` and between the ranges that are kept is not shown. */
function piecesOf(name: string, start: number, kept: readonly Range[]): Piece[] {
  const pieces: Piece[] = []
  const add = (from: number, to: number, isShown: boolean): void => {
    if (to > from) pieces.push({ text: name.slice(from, to), isShown, isMarked: !isShown && from > 0 })
  }
  let at = 0
  for (const [from, to] of kept) {
    add(at, from + start, false)
    add(from + start, to + start, true)
    at = to + start
  }
  add(at, name.length, false)
  return pieces
}
