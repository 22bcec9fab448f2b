import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { MISSING, amount, count, digits, metricQuantity, moment, percent, plain, plainName, text, time, unitOf } from "./units"

const shown = (quantity: ReturnType<typeof time>): string => text(quantity).replaceAll(/\s/g, " ")

const GOLDEN = JSON.parse(readFileSync(new URL("../../tests/golden/units.json", import.meta.url), "utf-8")) as Record<string, [number, string][]>
const WRITERS: Record<string, (value: number) => string> = {
  "times in nanoseconds": (value) => shown(time(value)).replace("µ", "u"),
  numbers: (value) => digits(value).replaceAll(/\s/g, " "),
  counts: (value) => shown(count(value)),
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
