import { describe, expect, it } from "vitest"
import type { Intervals } from "./spans"
import { type Track, firstPast, markSums, placeAt, tracksOf, unionOf, walk } from "./nesting"

function times(...pairs: [number, number][]): Intervals {
  return { starts: Float64Array.from(pairs, (pair) => pair[0]), ends: Float64Array.from(pairs, (pair) => pair[1]) }
}

function tracks(...pairs: [number, number][]): Track[] {
  return tracksOf(times(...pairs), 0, pairs.length)
}

interface Seen {
  boxes: [number, number, number][]
  pixels: [number, number, number][]
}

function walked(track: Intervals, from: number, to: number, width: number): Seen {
  const seen: Seen = { boxes: [], pixels: [] }
  walk(track, { from, to, width }, {
    box: (at, left, right) => seen.boxes.push([at, left, right]),
    pixel: (x, at, end) => seen.pixels.push([x, at, end]),
  })
  return seen
}

function many(count: number): [number, number][] {
  return Array.from({ length: count }, (_, at) => [at * 10, at * 10 + 6])
}

describe("tracks", () => {
  it("put what runs inside of a span below it", () => {
    const found = tracks([0, 100], [0, 40], [10, 20], [50, 60], [100, 110])
    expect(found.map((track) => [...track.spans])).toEqual([[0, 4], [1, 3], [2]])
  })

  it("put spans that overlap without nesting into as few rows as they need", () => {
    const found = tracks([0, 10], [5, 15], [12, 20], [16, 30])
    expect(found.map((track) => [...track.spans])).toEqual([[0, 2], [1, 3]])
  })

  it("have no place for spans that are hidden: what is inside of them moves up", () => {
    const found = tracksOf(times([0, 100], [0, 40], [10, 20]), 0, 3, (span) => span === 1)
    expect(found.map((track) => [...track.spans])).toEqual([[0], [2]])
  })

  it("keep to a limit of rows, with ends that can be searched", () => {
    const found = tracks(...Array.from({ length: 200 }, (_, at): [number, number] => [at, 1000 - at]))
    expect(found.length).toBe(64)
    const last = found.at(-1) as Track
    expect([...last.ends]).toEqual([...last.ends].sort((a, b) => a - b))
  })

  it("tell how busy they are by prefix sums", () => {
    const [track] = tracks([0, 10], [20, 25])
    expect([...(track as Track).busy]).toEqual([0, 10, 15])
  })

  it("unite into the times in which any has a span", () => {
    const [first, second] = [tracks([0, 10], [50, 60])[0] as Track, tracks([5, 20], [60, 70], [80, 90])[0] as Track]
    const found = unionOf([first, second])
    expect([...found.starts]).toEqual([0, 50, 80])
    expect([...found.ends]).toEqual([20, 70, 90])
    expect(found.busy[3]).toBe(50)
  })
})

describe("a union", () => {
  it("of many tracks is that of all their spans", () => {
    const all = Array.from({ length: 7 }, (_, lane) => tracks(...Array.from({ length: 50 }, (_, at): [number, number] => [at * 40 + lane * 3, at * 40 + lane * 3 + 5]))[0] as Track)
    const found = unionOf(all)
    expect(found.starts.length).toBe(50)
    expect([found.starts[0], found.ends[0]]).toEqual([0, 23])
    expect(found.busy[50]).toBe(50 * 23)
    expect(found.spans.length).toBe(50)
  })

  it("of none is empty, of one the same", () => {
    expect(unionOf([]).starts.length).toBe(0)
    const [only] = tracks([0, 1]) as [Track]
    expect(unionOf([only])).toBe(only)
  })
})

describe("a walk", () => {
  it("draws wide spans one by one and leaves out what is not in the window", () => {
    const [track] = tracks([0, 10], [20, 40], [50, 60], [80, 90])
    expect(walked(track as Track, 30, 70, 40)).toEqual({ boxes: [[1, -10, 10], [2, 20, 30]], pixels: [] })
  })

  it("gathers narrow spans by the pixel they begin in", () => {
    const [track] = tracks([0, 1], [2, 3], [9, 10], [10, 11], [35, 36])
    expect(walked(track as Track, 0, 100, 10).pixels).toEqual([[0, 0, 3], [1, 3, 4], [3, 4, 5]])
  })

  it("shows a wide span even where narrow ones begin in the same pixel", () => {
    const [track] = tracks([0, 1], [2, 3], [4, 90])
    expect(walked(track as Track, 0, 100, 10)).toEqual({ boxes: [[2, 0.4, 9]], pixels: [[0, 0, 2]] })
  })

  it("covers every span once, at any zoom", () => {
    const pairs = many(5000)
    const [track] = tracks(...pairs)
    for (const width of [1, 7, 100, 1500, 60_000]) {
      const seen = walked(track as Track, 0, 50_000, width)
      const places = [
        ...seen.boxes.map(([at]) => at),
        ...seen.pixels.flatMap(([, at, end]) => Array.from({ length: end - at }, (_, n) => at + n)),
      ]
      expect(places.sort((a, b) => a - b)).toEqual(pairs.map((_, at) => at))
    }
  })

  it("takes a few calls a pixel, however many spans there are", () => {
    const starts = Float64Array.from({ length: 200_000 }, (_, at) => at * 10)
    const seen = walked({ starts, ends: starts.map((start) => start + 6) }, 0, 2_000_000, 1000)
    expect(seen.pixels.length + seen.boxes.length).toBeLessThanOrEqual(2000)
  })

  it("reads few places of a million", () => {
    const count = 1_000_000
    let reads = 0
    const counted = (values: Float64Array): Float64Array =>
      new Proxy(values, {
        get(target, key) {
          reads++
          return Reflect.get(target, key, target) as unknown
        },
      })
    const starts = Float64Array.from({ length: count }, (_, at) => at * 10)
    const ends = starts.map((start) => start + 6)
    walked({ starts: counted(starts), ends: counted(ends) }, 0, 10 * count, 1000)
    expect(reads).toBeLessThan(80_000)
  })

  it("sees single nanoseconds four seconds into a trace", () => {
    const [track] = tracks([4_000_000_000, 4_000_000_001], [4_000_000_002, 4_000_000_003])
    const seen = walked(track as Track, 3_999_999_999, 4_000_000_004, 500)
    expect(seen.boxes).toEqual([[0, 100, 200], [1, 300, 400]])
  })

  it("shows spans without duration as pixels", () => {
    const [track] = tracks([10, 10], [20, 20])
    expect(walked(track as Track, 0, 100, 100).pixels).toEqual([[10, 0, 1], [20, 1, 2]])
  })
})

describe("a place", () => {
  const [track] = tracks([0, 10], [20, 30]) as [Track]

  it("is that of the span at a time", () => {
    expect(placeAt(track, 25, 0)).toBe(1)
    expect(placeAt(track, 15, 0)).toBe(-1)
  })

  it("is that of the nearest within reach", () => {
    expect(placeAt(track, 12, 3)).toBe(0)
    expect(placeAt(track, 18, 3)).toBe(1)
    expect(placeAt(track, 33, 3)).toBe(1)
    expect(placeAt(track, 40, 3)).toBe(-1)
  })

  it("is found among ends by search", () => {
    expect([-1, 0, 10, 29, 30].map((time) => firstPast(track.ends, time))).toEqual([0, 0, 1, 1, 2])
  })
})

describe("marks", () => {
  it("are summed up to each place, and seen even without duration", () => {
    const [track] = tracks([0, 10], [20, 30], [40, 40]) as [Track]
    const sums = markSums(track, [1, 0, 1], Uint8Array.of(0, 1))
    expect(sums[1]).toBeCloseTo(10, 2)
    expect(sums[2]).toBe(sums[1])
    expect(sums[3]).toBeGreaterThan(sums[2] as number)
  })
})
