import { describe, expect, it } from "vitest"
import { buildPage } from "./model"
import { type Row, profileOf } from "./model.test.support"
import type { PageData } from "./schema"
import { PageError } from "./unpack"

const kernel = (name: string, ns: number): Row => [2, name, { "time (ns)": ns, count: 1 }]
const profile = profileOf(
  [[0, "ROOT"], [1, "a", { "cpu_time (ns)": 9 }], kernel("_Zk", 5), kernel("one", 2), [1, "b", { lr: 0.5 }], kernel("_Zk", 7)],
  {
    kinds: { lr: "property", "cpu_time (ns)": "exclusive" },
    places: { 1: ["m.py", 3, "a"] },
    parts: { names: { _Zk: ["k", "void k()"] } },
  },
)

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

  it("says on which device a row ran whose neighbours have its name", () => {
    const two = profileOf([[0, "ROOT"], [1, "_Zk", { "time (ns)": 5 }], [1, "_Zk", { "time (ns)": 7 }]], { marks: { 2: "(GPU 1)" }, parts: { names: { _Zk: ["k", "void k()"] } } })
    expect([two.name(1), two.name(2), two.wholeName(2), two.rawName(2)]).toEqual(["k", "k (GPU 1)", "void k() (GPU 1)", "_Zk"])
  })

  it("offers metrics in the order of its columns", () => {
    expect(profile.metrics).toEqual(["cpu_time (ns)", "time (ns)", "count", "lr"])
  })

  it("shows names as people read them and finds kernels by the file's", () => {
    expect([profile.name(2), profile.rawName(2), profile.whole("_Zk")]).toEqual(["k", "_Zk", "void k()"])
    expect(profile.shown("toString")).toBe("toString")
    expect(profile.rowsOfKernel("_Zk")).toEqual([2, 5])
    expect(profile.rowsOfKernel("a")).toEqual([])
    expect([0, 1, 2].map((row) => profile.kind(row)).join("")).toBe("rsk")
  })

  it("knows the places of frames, and how kernels ran", () => {
    expect([profile.place(1), profile.place(2)]).toEqual([["m.py", 3, "a"], null])
    expect(profile.runs(2)).toMatchObject({ min: 1, p50: 2, p99: Number.NaN, max: 4, launch: { grid: "4x1x1" } })
    expect(profile.runs(3)).toBeNull()
  })

  it("is not led astray by names of JavaScript's own", () => {
    const own = JSON.parse('{"__proto__": 3, "toString": 1}') as Record<string, number>
    const odd = profileOf([[0, "constructor", own]])
    expect([...odd.metrics].sort()).toEqual(["__proto__", "toString"])
    expect(odd.value("__proto__", 0)).toBe(3)
    expect([odd.metricKind("__proto__"), odd.metricKind("toString")]).toEqual(["inclusive", "inclusive"])
    expect(odd.name(0)).toBe("constructor")
  })

  it("may be of any depth", () => {
    const rows = Array.from({ length: 20_001 }, (_, depth): Row => [depth, "x", depth === 20_000 ? { "time (ns)": 1 } : {}])
    const deep = profileOf(rows)
    expect(deep.totals("time (ns)")[0]).toBe(1)
    expect(deep.path(20_000)).toHaveLength(20_000)
  })
})

it("a page is built of every profile, and columns that do not fit are one clear line", () => {
  const data = { format: "", made_by: "1.0", diff: null, columns: {}, profiles: [profile.parts] } as PageData
  const page = buildPage({ page: data, column: profile.column })
  expect(page.profiles.map((each) => each.source)).toEqual(["x"])
  expect(page.madeBy).toBe("1.0")
  const cut = (id: string) => (id === "frame" ? new Uint32Array(2) : profile.column(id))
  expect(() => buildPage({ page: data, column: cut })).toThrow(PageError)
  expect(() => buildPage({ page: data, column: () => new Uint32Array() })).toThrow(/damaged.*proton report/)
})
