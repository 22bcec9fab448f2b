import { expect, it } from "vitest"
import { imageOf, sumOfRows } from "./cta_image"
import { activeOver, packCtas } from "./ctas"

const SM = [3, 7, 3]
const START = [0, 2, 5]
const DURATION = [10, 1, 10]

it("covers pixels by the time that CTAs ran in them", () => {
  const packed = packCtas(SM, START, DURATION)
  const image = imageOf(packed, START, DURATION, [0, 20], 4, () => 1)
  expect([...image.covered]).toEqual([1, 2, 1, 0, expect.closeTo(0.2), 0, 0, 0])
  expect(image).toMatchObject({ rows: 2, columns: 4 })
})

it("weighs the values of CTAs by how much they cover", () => {
  const packed = packCtas(SM, START, DURATION)
  const image = imageOf(packed, START, DURATION, [0, 20], 4, (cta) => (cta === 0 ? 0 : 1))
  expect([...image.value].slice(0, 4)).toEqual([0, 1, 1, 0])
})

it("shows only what is between the times", () => {
  const packed = packCtas(SM, START, DURATION)
  const image = imageOf(packed, START, DURATION, [9, 11], 2, () => 1)
  expect([...image.covered]).toEqual([2, 1, 0, 0])
})

it("adds up to the CTAs that ran at once", () => {
  const packed = packCtas(SM, START, DURATION)
  const sums = sumOfRows(imageOf(packed, START, DURATION, [0, 20], 4, () => 1))
  expect([...sums]).toEqual([expect.closeTo(1.2), 2, 1, 0])
  expect([...sums]).toEqual([...activeOver(START, DURATION, [0, 20], 4)].map((each) => expect.closeTo(each)))
})
