import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { Profile } from "./model"
import { FormatError, readDocument } from "./read"

const TESTS = new URL("../../tests/", import.meta.url)

interface Facts {
  kinds: string
  parents_sum: number
  deepest: number
  totals: Record<string, number>
  medians: Record<string, number | null>
  devices: string[]
  command: string[]
  losses: Record<string, number>
  warnings: string[]
}

const golden = JSON.parse(readFileSync(new URL("golden/trees.json", TESTS), "utf-8")) as Record<string, Facts>

describe.each(Object.entries(golden))("%s", (name, facts) => {
  const value: unknown = JSON.parse(readFileSync(new URL(`data/${name}`, TESTS), "utf-8"))
  const recording = readDocument(value, name)
  const profile = new Profile(recording, {}, () => new Float64Array())

  it("has the tree that Python reads", () => {
    expect(recording.kinds).toBe(facts.kinds)
    expect(recording.parents.reduce((sum, parent, row) => sum + row * parent, 0)).toBe(facts.parents_sum)
    expect(Math.max(...profile.depths)).toBe(facts.deepest)
    expect(profile.ends[0]).toBe(facts.kinds.length)
  })

  it("has the sums that Python reads", () => {
    for (const [metric, total] of Object.entries(facts.totals)) {
      const found = profile.totals(metric)[0] as number
      expect(Number.isNaN(found) ? 0 : found, metric).toBeCloseTo(total, 6)
    }
  })

  it("has the details and facts that Python reads", () => {
    const medians = Object.fromEntries([...recording.details].map(([row, detail]) => [String(row), detail.p50]))
    expect(medians).toEqual(facts.medians)
    expect(recording.devices.map((each) => `${each.type} ${each.id} ${each.arch}`)).toEqual(facts.devices)
    expect(recording.header.command).toEqual(facts.command)
    expect({ ...recording.losses }).toEqual(facts.losses)
    expect(recording.warnings).toEqual(facts.warnings)
  })
})

describe("what is no profile", () => {
  const good = { frame: { name: "ROOT" }, metrics: {}, children: [] }
  it.each<[string, unknown, string]>([
    ["an object", {}, "no list"],
    ["an empty list", [], "no list"],
    ["a number for a root", [7], "node 0 is not an object"],
    ["a node without name", [{ ...good, children: [{}] }], "node 1 has no frame name"],
    ["a name that is a number", [{ frame: { name: 3 } }], "node 0 has no frame name"],
    ["metrics that are a list", [{ ...good, metrics: [] }], "metrics that are not an object"],
    ["children that are an object", [{ ...good, children: {} }], "children that are not a list"],
    ["a metric that is an object", [{ ...good, metrics: { x: {} } }], 'metric "x"'],
    ["a metric that is null", [{ ...good, metrics: { x: null } }], 'metric "x"'],
    ["a newer format", [{ ...good, proton: { format: 2 } }], "newer"],
    ["kernels that are no list", [{ ...good, proton: { kernels: {} } }], "proton.kernels"],
    ["a kernel of no node", [{ ...good, proton: { kernels: [[5, 1, 1, 1, 1, {}]] } }], "not there"],
  ])("%s is said in one line with the path", (_what, value, why) => {
    expect(() => readDocument(value, "x.hatchet")).toThrow(FormatError)
    expect(() => readDocument(value, "x.hatchet")).toThrow(/^x\.hatchet: /)
    expect(() => readDocument(value, "x.hatchet")).toThrow(why)
  })

  it("takes odd values of the proton key for not said", () => {
    const proton = { kinds: "zz", command: 7, losses: [1], warnings: "x", metric_kinds: { a: "odd", b: "property" }, start_time_ns: "no" }
    const recording = readDocument([{ ...good, proton }, []], "x")
    expect(recording.kinds).toBe("r")
    expect(recording.header.command).toEqual([])
    expect(recording.warnings).toEqual([])
    expect({ ...recording.metricKinds }).toEqual({ b: "property" })
    expect(recording.header.startNs).toBeNull()
  })

  it("is not led astray by names of JavaScript's own", () => {
    const text = '[{"frame":{"name":"constructor"},"metrics":{"__proto__":3,"toString":1},"children":[],"proton":{"losses":{"__proto__":2}}}]'
    const recording = readDocument(JSON.parse(text), "x")
    const profile = new Profile(recording, {}, () => new Float64Array())
    expect([...recording.metrics.keys()].sort()).toEqual(["__proto__", "toString"])
    expect(profile.value("__proto__", 0)).toBe(3)
    expect(profile.metricKind("__proto__")).toBe("inclusive")
    expect(profile.metricKind("toString")).toBe("inclusive")
    expect(profile.name(0)).toBe("constructor")
    expect(Object.entries(recording.losses)).toEqual([["__proto__", 2]])
  })

  it("reads trees of any depth", () => {
    let deep: object = { frame: { name: "leaf" }, metrics: { "time (ns)": 1 } }
    for (let level = 0; level < 20_000; level++) deep = { frame: { name: "x" }, children: [deep] }
    const profile = new Profile(readDocument([deep, {}], "deep"), {}, () => new Float64Array())
    expect(profile.size).toBe(20_001)
    expect(profile.totals("time (ns)")[0]).toBe(1)
    expect(profile.path(20_000)).toHaveLength(20_000)
  })
})
