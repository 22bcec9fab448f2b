import { afterEach, describe, expect, it } from "vitest"
import { type Row, pageOf, profileOf } from "./model.test.support"
import {
  fromHash,
  matcherOf,
  matches,
  metric,
  metricChoice,
  page,
  rowOfSpan,
  search,
  selectKernel,
  selectRow,
  selectedKernel,
  selectedRow,
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
