import { afterEach, describe, expect, it } from "vitest"
import { type Row, pageOf, profileOf } from "./model.test.support"
import type { KernelsPart, TuningPart } from "./schema"
import {
  countsTuning,
  folds,
  fromHash,
  matcherOf,
  matches,
  metric,
  metricChoice,
  page,
  profile,
  regroup,
  rowOfSpan,
  search,
  selectGroup,
  selectKernel,
  selectRow,
  selectedKernel,
  selectedRow,
  selectedRows,
  selection,
  setZoom,
  theme,
  toHash,
  view,
  zoom,
} from "./state"

const kernel = (name: string, ns: number): Row => [2, name, { "time (ns)": ns, count: 1 }]

function open(): void {
  page.value = pageOf(profileOf([[0, "ROOT"], [1, "a"], kernel("k", 5), kernel("one", 2), [1, "b"], kernel("k", 7)]))
}

afterEach(() => {
  page.value = null
  rowOfSpan.value = null
  fromHash("")
})

describe("autotuning", () => {
  const kernels = (name: string[]): KernelsPart => ({ name }) as unknown as KernelsPart
  const rows: Row[] = [[0, "ROOT"], [1, "<autotune>"], kernel("k", 90), kernel("fill", 5), [1, "a"], kernel("k", 7)]
  const tuning = { time_ns: 95, share: 0.93, runs: 2, rows: [[1, 4]], kernels: kernels(["k", "fill"]) } as unknown as TuningPart

  it("is left out until somebody asks for it, in the same rows", () => {
    page.value = pageOf(profileOf(rows, { parts: { tuning, kernels: kernels(["k"]) } }))
    expect(profile.value?.value("time (ns)", 0)).toBe(7)
    expect(profile.value?.rowsOfKernel("k")).toEqual([5])
    countsTuning.value = true
    expect(profile.value?.value("time (ns)", 0)).toBe(102)
    expect(profile.value?.rowsOfKernel("k")).toEqual([2, 5])
    expect(profile.value?.parts.kernels?.name).toEqual(["k", "fill"])
    fromHash(toHash())
    expect(countsTuning.value).toBe(true)
  })
})

describe("contexts that are shown as one", () => {
  const loop = (): void => {
    const rows: Row[] = [[0, "ROOT"], [1, "step_0"], kernel("k", 5), [1, "step_1"], kernel("k", 7), [1, "end"]]
    page.value = pageOf(profileOf(rows, { folds: [[0, 1, 2, 1, 2, 3], { 1: "step_*" }] }))
  }

  it("are selected together, and as a kernel where they are one", () => {
    loop()
    const known = folds.value
    if (known === null) throw new Error("no folds")
    selectGroup(known, 1)
    expect(toHash()).toBe("sel=group%3A1")
    expect(selectedRow.value).toBe(null)
    expect([...(selectedRows.value as Int32Array)]).toEqual([1, 3])
    expect(selectedKernel.value).toBe(null)
    selectGroup(known, 2)
    expect(selectedKernel.value).toBe("k")
    selectGroup(known, 3)
    expect(selection.value).toEqual({ kind: "node", row: 5 })
  })

  it("stand one by one where the address says so", () => {
    loop()
    fromHash("unfold=1&sel=group:77")
    expect(folds.value).toBe(null)
    expect(selectedRows.value).toBe(null)
    expect(toHash()).toContain("unfold=1")
  })
})

describe("frames of libraries", () => {
  function python(): void {
    page.value = pageOf(profileOf([[0, "ROOT"], [1, "main"], [2, "jit.py run"], [3, "run_kernel", { "time (ns)": 7 }]], { library: [0, 1, 1, 2] }))
  }

  it("are hidden where the address says so, and then no search finds them", () => {
    python()
    fromHash("search=run")
    expect([...(matches.value ?? [])]).toEqual([0, 0, 1, 1])
    expect(folds.value).toBe(null)
    fromHash("search=run&hide=library")
    expect([...(matches.value ?? [])]).toEqual([0, 0, 0, 1])
    expect(folds.value?.size).toBe(3)
    expect(toHash()).toContain("hide=library")
    fromHash("unfold=1&hide=library")
    expect(folds.value?.size).toBe(3)
  })

  it("leave what is selected as it is", () => {
    const rows: Row[] = [[0, "ROOT"], [1, "jit"], [2, "s_0"], [3, "k", { "time (ns)": 7 }], [2, "s_1"], [3, "k", { "time (ns)": 8 }]]
    page.value = pageOf(profileOf(rows, { folds: [[0, 1, 2, 3, 2, 3], { 2: "s_*" }], library: [0, 0, 1, 2, 1, 2] }))
    fromHash("sel=group:3")
    expect(Array.from(selectedRows.value ?? [])).toEqual([3, 5])
    regroup({ hidesLibrary: true })
    expect(selection.value).toEqual({ kind: "group", group: 2 })
    expect(Array.from(selectedRows.value ?? [])).toEqual([3, 5])
    regroup({ hidesLibrary: false })
    expect(selection.value).toEqual({ kind: "group", group: 3 })
  })
})

describe("the address", () => {
  it("tells the whole state and gives it back", () => {
    open()
    view.value = "flame"
    metricChoice.value = "count"
    selectKernel("k&=#é")
    search.value = "/x+/"
    theme.value = "dark"
    setZoom("flame", "12")
    const told = toHash()
    fromHash("")
    expect(toHash()).toBe("")
    fromHash(`#${told}`)
    expect(toHash()).toBe(told)
    expect(selection.value).toEqual({ kind: "kernel", name: "k&=#é" })
    expect(zoom.value).toEqual({ flame: "12" })
    setZoom("flame", "")
    expect(zoom.value).toEqual({})
  })

  it.each(["sel=node:x", "sel=node:-1", "sel=", "sel=kernel:", "sel=span:1e9", "profile=77&theme=mauve", "%%%"])(
    "takes %s for nothing",
    (words) => {
      open()
      fromHash(words)
      expect(selection.value).toBeNull()
      expect(theme.value).toBe("auto")
    },
  )
})

describe("the selection", () => {
  it("finds the kernel of a row and the row of a kernel that has one", () => {
    open()
    selectRow(2)
    expect([selectedRow.value, selectedKernel.value]).toEqual([2, "k"])
    selectRow(1)
    expect([selectedRow.value, selectedKernel.value]).toEqual([1, null])
    selectKernel("one")
    expect([selectedRow.value, selectedKernel.value]).toEqual([3, "one"])
    selectKernel("k")
    expect([selectedRow.value, selectedKernel.value]).toEqual([null, "k"])
    selectRow(99)
    expect(selectedRow.value).toBeNull()
  })

  it("finds the row of a span as the timeline says", () => {
    open()
    selection.value = { kind: "span", index: 3 }
    expect(selectedRow.value).toBeNull()
    rowOfSpan.value = (_profile, index) => index - 1
    expect([selectedRow.value, selectedKernel.value]).toEqual([2, "k"])
  })
})

describe("the search", () => {
  it("is without case, or an expression between slashes", () => {
    expect(matcherOf("  ")).toBeNull()
    expect(matcherOf("MAT")?.("xmatmul")).toBe(true)
    expect(matcherOf("/^mat.*l$/")?.("matmul")).toBe(true)
    expect(matcherOf("/^mat.*l$/")?.("xmatmul")).toBe(false)
    expect(matcherOf("/(/")?.("(")).toBe(false)
  })

  it("marks the rows that fit", () => {
    open()
    search.value = "k"
    expect([...(matches.value ?? [])]).toEqual([0, 0, 1, 0, 0, 1])
    search.value = ""
    expect(matches.value).toBeNull()
  })

  it("finds the device of rows that it tells apart", () => {
    page.value = pageOf(profileOf([[0, "ROOT"], [1, "k", { "time (ns)": 5 }], [1, "k", { "time (ns)": 7 }]], { marks: { 1: "(GPU 0)", 2: "(GPU 1)" } }))
    search.value = "gpu 1"
    expect([...(matches.value ?? [])]).toEqual([0, 0, 1])
    search.value = ""
  })
})

it("shows the time unless another metric of the profile is chosen", () => {
  expect(metric.value).toBe("")
  open()
  expect(metric.value).toBe("time (ns)")
  metricChoice.value = "no such"
  expect(metric.value).toBe("time (ns)")
  metricChoice.value = "count"
  expect(metric.value).toBe("count")
})
