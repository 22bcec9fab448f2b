import { describe, expect, it } from "vitest"
import type { Column, PageObject } from "./format"
import { Profile, buildPage } from "./model"
import { FormatError, readDocument } from "./read"

const node = (name: string, metrics: object, ...children: object[]): object => ({ frame: { name }, metrics, children })
const kernel = (name: string, ns: number): object => node(name, { "time (ns)": ns, count: 1, device_id: "0" })
const document = [
  node("ROOT", { "time (ns)": 0, count: 0 }, node("a", { "cpu_time (ns)": 9 }, kernel("_Zk", 5), kernel("one", 2)), node("b", { lr: 0.5 }, kernel("_Zk", 7))),
  {},
]
const columns = (): Column => Float64Array.of(1)
const parts = { names: { _Zk: ["k", "void k()"] }, summary: { metric_kinds: { lr: "property" } } }
const profile = new Profile(readDocument(document, "x"), parts, columns)

describe("a profile", () => {
  it("knows where subtrees end, depths, paths and children", () => {
    expect([...profile.ends]).toEqual([6, 4, 3, 4, 6, 6])
    expect([...profile.depths]).toEqual([0, 1, 2, 2, 1, 2])
    expect(profile.path(5)).toEqual([4, 5])
    expect(profile.children(0)).toEqual([1, 4])
    expect(profile.children(5)).toEqual([])
  })

  it("sums inclusive metrics over subtrees and no others", () => {
    expect([...profile.totals("time (ns)")]).toEqual([14, 7, 5, 2, 7, 7])
    expect(profile.value("cpu_time (ns)", 0)).toBeNaN()
    expect(profile.value("cpu_time (ns)", 1)).toBe(9)
    expect(profile.value("lr", 0)).toBeNaN()
    expect(profile.value("lr", 4)).toBe(0.5)
    expect(profile.value("no such", 0)).toBeNaN()
    expect(profile.value("time (ns)", 99)).toBeNaN()
  })

  it("offers metrics with the time first, and no labels", () => {
    expect(profile.metrics).toEqual(["time (ns)", "cpu_time (ns)", "count", "lr"])
  })

  it("shows names as people read them and finds kernels by the file's", () => {
    expect([profile.name(2), profile.rawName(2), profile.whole("_Zk")]).toEqual(["k", "_Zk", "void k()"])
    expect(profile.shown("toString")).toBe("toString")
    expect(profile.rowsOfKernel("_Zk")).toEqual([2, 5])
    expect(profile.rowsOfKernel("a")).toEqual([])
    expect(profile.label("device_id", 2)).toBe("0")
  })

  it("has only the parts that it was given", () => {
    expect(profile.part("names")).not.toBeNull()
    expect(profile.part("roofline")).toBeNull()
    expect(profile.part("constructor")).toBeNull()
  })
})

it("a page is built of every profile, and says which is none", () => {
  const object = { format: "proton-page/1", made_by: "1.0", diff: { x: 1 }, columns: {}, profiles: [{ source: "x", document, parts }] }
  const page = buildPage({ page: object as unknown as PageObject, column: columns })
  expect(page.profiles.map((each) => each.source)).toEqual(["x"])
  expect(page.diff).toEqual({ x: 1 })
  const broken = { ...object, profiles: [{ source: "y", document: 3, parts: {} }] }
  expect(() => buildPage({ page: broken as unknown as PageObject, column: columns })).toThrow(FormatError)
})
