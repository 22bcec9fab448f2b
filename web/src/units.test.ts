import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { MISSING, amount, amountScale, count, digits, exactMoment, exactTime, inScale, memory, memoryScale, metricQuantity, moment, percent, plain, plainName, text, time, timeScale, unitOf } from "./units"

const shown = (quantity: ReturnType<typeof time>): string => text(quantity).replaceAll(/\s/g, " ")

const GOLDEN = JSON.parse(readFileSync(new URL("../../tests/golden/units.json", import.meta.url), "utf-8")) as Record<string, [number, string][]>
const WRITERS: Record<string, (value: number) => string> = {
  "times in nanoseconds": (value) => shown(time(value)).replace("µ", "u"),
  numbers: (value) => digits(value).replaceAll(/\s/g, " "),
  counts: (value) => shown(count(value)),
  "sizes in bytes": (value) => shown(memory(value)),
}

describe.each(Object.entries(GOLDEN))("%s", (kind, rows) => {
  it.each(rows)("%d is written as in the terminal: %s", (value, wanted) => {
    expect(WRITERS[kind]?.(value)).toBe(wanted)
  })
})

describe("numbers", () => {
  it.each([
    [1071.3, "1 071"],
    [410.22, "410"],
    [92.44, "92.4"],
    [9.999, "10.0"],
    [99.96, "100"],
    [1.9, "1.90"],
    [0.0312, "0.0312"],
    [0, "0"],
    [-1234.4, "-1 234"],
    [1.5e-7, "1.50e-07"],
    [2e15, "2.00e+15"],
  ])("%d has three significant digits: %s", (value, wanted) => {
    expect(digits(value).replaceAll(/\s/g, " ")).toBe(wanted)
  })

  it("never shows zero for what is missing", () => {
    for (const quantity of [time(null), time(undefined), time(Number.NaN), percent(null), amount(null, "B"), count(null), plain(null)]) {
      expect(text(quantity)).toBe(MISSING)
    }
  })

  it("chooses the unit of a time that reads best", () => {
    expect([999, 1e3, 142_000, 410_220_000, 1.0713e9, 1.2e10, 0].map((ns) => shown(time(ns)))).toEqual([
      "999 ns",
      "1.00 µs",
      "142 µs",
      "410 ms",
      "1 071 ms",
      "12.0 s",
      "0 ns",
    ])
    expect(shown(time(1500, ["ms", 1e6]))).toBe("0.00150 ms")
    expect(shown(time(12.5))).toBe("12.5 ns")
  })

  it("puts decimal prefixes before units", () => {
    expect([612e12, 880e9, 1.9e12, 999.96e9, 48_000, 12, 0].map((value) => shown(amount(value, "B/s")))).toEqual([
      "612 TB/s",
      "880 GB/s",
      "1.90 TB/s",
      "1.00 TB/s",
      "48.0 kB/s",
      "12 B/s",
      "0 B/s",
    ])
  })

  it("says so where a share is too small to show", () => {
    expect([0.62, 1, 0.0001, -0.0001, 0].map((share) => shown(percent(share)))).toEqual(["62.0 %", "100.0 %", "<0.1 %", ">-0.1 %", "0.0 %"])
  })

  it("keeps every digit of a count that can be read", () => {
    expect([2880, 83_800, 12_345_678, 0.5].map((value) => shown(count(value)))).toEqual(["2 880", "83 800", "12.3 M", "0.500"])
  })

  it("knows a metric's unit by its name", () => {
    expect(shown(metricQuantity("time (ns)", 5e6))).toBe("5.00 ms")
    expect(shown(metricQuantity("wait (us)", 5e6))).toBe("5 000 ms")
    expect(shown(metricQuantity("bytes", 5e6))).toBe("5.00 MB")
    expect(shown(metricQuantity("flops16", 5e12))).toBe("5.00 TFLOP")
    expect(shown(metricQuantity("tokens", 5000))).toBe("5 000")
    expect(shown(metricQuantity("power (W)", 312.4))).toBe("312 W")
    expect([unitOf("x (inc)"), unitOf("x (ns)"), unitOf("x")]).toEqual(["", "ns", ""])
    expect([plainName("time (ns)"), plainName("(odd")]).toEqual(["time", "(odd"])
  })

  it("writes a moment, and nothing where it is not known", () => {
    expect(moment(null)).toBe("")
    expect(moment(1e30)).toBe("")
    expect(moment(1.7e18)).toMatch(/^2023-11-1\d \d\d:\d\d$/)
  })
})

describe("numbers above each other have one unit", () => {
  const column = (...values: number[]): string[] => values.map((value) => text(inScale(value, timeScale(values))).replace("\u00a0", " "))

  it("of the largest, with three digits each and no more than three decimals", () => {
    expect(column(342e6, 58.2e6, 9.15e6, 312_345, 900, 12)).toEqual(["342 ms", "58.2 ms", "9.15 ms", "0.312 ms", "0.001 ms", "<0.001 ms"])
  })

  it("one unit below it, where the smallest needs that and the largest stays short", () => {
    expect(column(3.11e6, 254e3, 3970)).toEqual(["3\u202f110 µs", "254 µs", "3.97 µs"])
    expect(column(3.11e6, 2.54e6)).toEqual(["3.11 ms", "2.54 ms"])
  })

  it("memory in powers of two", () => {
    const sizes = [17.6 * 2 ** 20, 64 * 1024]
    expect(sizes.map((size) => text(inScale(size, memoryScale(sizes))))).toEqual(["17.6\u00a0MiB", "0.063\u00a0MiB"])
  })

  it("amounts too", () => {
    const rates = [221e9, 586e9, 3.87e12, 0]
    const scale = amountScale(rates, "B/s")
    expect(rates.map((rate) => text(inScale(rate, scale)))).toEqual(["221\u00a0GB/s", "586\u00a0GB/s", "3\u202f870\u00a0GB/s", "0\u00a0GB/s"])
    expect(text(inScale(null, scale))).toBe("–")
  })
})

it("times have every digit where they are wanted", () => {
  expect(text(exactTime(55_123_456))).toBe("55\u202f123\u202f456\u00a0ns")
  expect(text(exactTime(0))).toBe("0\u00a0ns")
  expect(text(exactTime(12.25))).toBe("12.25\u00a0ns")
  expect(exactMoment("1763000000123456789", 1000)).toBe("2025-11-13 02:13:20.123457789 UTC")
})
