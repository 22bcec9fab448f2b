import { describe, expect, it } from "vitest"
import { type Direction, SLACK, activeOver, boxesOf, ctaAt, imageOf, neighbourOf, packCtas, sumOfRows } from "./ctas"

// Two multiprocessors: 7 runs two CTAs at once, then a third in the place of the first.
const SM = [7, 7, 3, 7]
const START = [0, 1, 2, 10]
const DURATION = [10, 30, 5, 5]

describe("packed CTAs", () => {
  it("stand in the first free slot of their multiprocessor", () => {
    const packed = packCtas(SM, START, DURATION)
    expect(packed.sms).toEqual([3, 7])
    expect(packed.slots).toBe(2)
    expect([...packed.row]).toEqual([1, 1, 0, 1])
    expect([...packed.slot]).toEqual([0, 1, 0, 0])
    expect([...packed.wave]).toEqual([0, 0, 0, 1])
    expect(packed.lanes).toEqual([
      { row: 0, slot: 0, first: 0, last: 1 },
      { row: 1, slot: 0, first: 1, last: 3 },
      { row: 1, slot: 1, first: 3, last: 4 },
    ])
    expect([...packed.order]).toEqual([2, 0, 3, 1])
  })

  it("follow each other where they overlap a little", () => {
    expect(packCtas([0, 0], [0, 96], [100, 100]).slots).toBe(1)
    expect(packCtas([0, 0], [0, 94], [100, 100]).slots).toBe(2)
    expect(packCtas([0, 0], [0, 96], [100, 10]).slots).toBe(2)
  })

  it("hardly overlap in a slot", () => {
    const count = 5000
    const start = Float64Array.from({ length: count }, (_, at) => at * 0.7)
    const duration = Float64Array.from({ length: count }, (_, at) => 5 + ((at * 7919) % 13))
    const sm = Uint32Array.from({ length: count }, (_, at) => (at * 31) % 9)
    const packed = packCtas(sm, start, duration)
    for (const lane of packed.lanes) {
      for (let at = lane.first + 1; at < lane.last; at++) {
        const [before, after] = [packed.order[at - 1] as number, packed.order[at] as number]
        const overlap = (start[before] as number) + (duration[before] as number) - (start[after] as number)
        expect(overlap).toBeLessThanOrEqual(SLACK * Math.min(duration[before] as number, duration[after] as number))
      }
    }
    expect(packed.lanes.reduce((all, lane) => all + lane.last - lane.first, 0)).toBe(count)
  })

  it("are none where there are none", () => {
    expect(packCtas([], [], []).lanes).toEqual([])
  })
})

describe("boxes", () => {
  const packed = packCtas(SM, START, DURATION)
  const lane = packed.lanes[1]!

  it("are the CTAs that are seen", () => {
    expect(boxesOf(packed, lane, [0, 20], 1).map((box) => box.cta)).toEqual([0, 3])
    expect(boxesOf(packed, lane, [11, 12], 0.1).map((box) => box.cta)).toEqual([3])
    expect(boxesOf(packed, lane, [40, 50], 1)).toEqual([])
  })

  it("hold many CTAs where one is too narrow, and say how full they are", () => {
    const count = 100_000
    const start = Float64Array.from({ length: count }, (_, at) => at)
    const duration = new Float64Array(count).fill(0.5)
    const many = packCtas(new Uint8Array(count), start, duration)
    const boxes = boxesOf(many, many.lanes[0]!, [0, count], 100)
    expect(boxes).toHaveLength(1)
    expect(boxes[0]?.count).toBe(count)
    expect(boxes[0]?.filled).toBeCloseTo(0.5, 3)
    expect(boxesOf(many, many.lanes[0]!, [500, 510], 0.01)).toHaveLength(11)
  })

  it("end where a gap can be seen", () => {
    const start = [0, 1, 50, 51]
    const duration = [1, 1, 1, 1]
    const gapped = packCtas([0, 0, 0, 0], start, duration)
    const boxes = boxesOf(gapped, gapped.lanes[0]!, [0, 60], 5)
    expect(boxes.map((box) => [box.start, box.end, box.count])).toEqual([[0, 2, 2], [50, 52, 2]])
  })
})

describe("a CTA at a place", () => {
  const packed = packCtas(SM, START, DURATION)

  it("is found by row, slot and time", () => {
    expect(ctaAt(packed, { row: 1, slot: 0, time: 12, slack: 0 })).toBe(3)
    expect(ctaAt(packed, { row: 1, slot: 1, time: 12, slack: 0 })).toBe(1)
    expect(ctaAt(packed, { row: 1, slot: -1, time: 3, slack: 0 })).toBe(0)
  })

  it("may be a little beside the pointer, but not far", () => {
    expect(ctaAt(packed, { row: 0, slot: 0, time: 8, slack: 2 })).toBe(2)
    expect(ctaAt(packed, { row: 0, slot: 0, time: 20, slack: 2 })).toBe(-1)
  })
})

describe("the CTA beside one", () => {
  const packed = packCtas(SM, START, DURATION)
  const next = (cta: number, to: Direction): number => neighbourOf(packed, cta, to)

  it("is the one before or after in its place", () => {
    expect([next(0, "Right"), next(3, "Left"), next(3, "Right"), next(0, "Left")]).toEqual([3, 0, -1, -1])
  })

  it("is the nearest in time on the next multiprocessor", () => {
    expect([next(2, "Down"), next(3, "Up"), next(2, "Up"), next(0, "Down")]).toEqual([0, 2, -1, -1])
  })
})

describe("active CTAs", () => {
  it("are averages over each part", () => {
    expect([...activeOver([0, 5], [10, 10], [0, 20], 4)]).toEqual([1, 2, 1, 0])
    expect([...activeOver([2], [1], [0, 4], 2)]).toEqual([0, 0.5])
  })

  it("count what began before and ends after", () => {
    expect([...activeOver([-10], [100], [0, 4], 2)]).toEqual([1, 1])
    expect(activeOver([0], [1], [3, 3], 2)).toHaveLength(0)
  })
})

describe("an image of CTAs", () => {
  const SM = [3, 7, 3]
  const START = [0, 2, 5]
  const DURATION = [10, 1, 10]

  it("covers pixels by the time that CTAs ran in them", () => {
    const packed = packCtas(SM, START, DURATION)
    const image = imageOf(packed, [0, 20], 4, () => 1)
    expect([...image.covered]).toEqual([1, 2, 1, 0, expect.closeTo(0.2), 0, 0, 0])
    expect(image).toMatchObject({ rows: 2, columns: 4 })
  })

  it("weighs the values of CTAs by how much they cover", () => {
    const packed = packCtas(SM, START, DURATION)
    const image = imageOf(packed, [0, 20], 4, (cta) => (cta === 0 ? 0 : 1))
    expect([...image.value].slice(0, 4)).toEqual([0, 1, 1, 0])
  })

  it("shows only what is between the times", () => {
    const packed = packCtas(SM, START, DURATION)
    const image = imageOf(packed, [9, 11], 2, () => 1)
    expect([...image.covered]).toEqual([2, 1, 0, 0])
  })

  it("adds up to the CTAs that ran at once", () => {
    const packed = packCtas(SM, START, DURATION)
    const sums = sumOfRows(imageOf(packed, [0, 20], 4, () => 1))
    expect([...sums]).toEqual([expect.closeTo(1.2), 2, 1, 0])
    expect([...sums]).toEqual([...activeOver(START, DURATION, [0, 20], 4)].map((each) => expect.closeTo(each)))
  })
})
