import { beforeEach, describe, expect, it } from "vitest"
import type { Page, Profile } from "./model"
import { pageOf as pageOfProfiles, profileOf, type Row } from "./model.test.support"
import { renewPage, renewZoom, sameRow } from "./renew"
import { page, profileIndex, selection, zoom } from "./state"

type Tree = { [name: string]: Tree } | [string, Tree][]

function rowsOf(name: string, below: Tree, depth = 0): Row[] {
  const entries = Array.isArray(below) ? below : Object.entries(below)
  return [[depth, name], ...entries.flatMap(([each, tree]) => rowsOf(each, tree, depth + 1))]
}

function pageOf(...trees: Tree[]): Page {
  return pageOfProfiles(...trees.map((tree) => profileOf(rowsOf("ROOT", tree))))
}

const only = (tree: Tree): Profile => pageOf(tree).profiles[0] as Profile

beforeEach(() => {
  page.value = null
  profileIndex.value = 0
  selection.value = null
  zoom.value = {}
})

describe("a row in newer data", () => {
  it("is found by its path, wherever it stands now", () => {
    const before = only({ b: { k: {} } })
    const after = only({ a: { k: {} }, b: { j: {}, k: {} } })
    expect(sameRow(before, after, 2)).toBe(5)
    expect(sameRow(before, after, 0)).toBe(0)
  })

  it("of several of one name is the one at the same place", () => {
    const before = only([["a", {}], ["k", {}], ["k", {}]])
    const after = only([["k", {}], ["a", {}], ["k", {}], ["k", {}]])
    expect(sameRow(before, after, 3)).toBe(3)
    expect(sameRow(before, after, 2)).toBe(1)
  })

  it("that is gone, or never was, is none", () => {
    const before = only({ a: { k: {} } })
    expect(sameRow(before, only({ a: {} }), 2)).toBeNull()
    expect(sameRow(before, before, 99)).toBeNull()
  })
})

describe("zoom in newer data", () => {
  it("goes to where its row is now, and leaves other words alone", () => {
    expect(renewZoom("c.z3-2.r", (row) => row + 1)).toBe("c.z4-2.r")
    expect(renewZoom("1.z", () => null)).toBe("1.z")
    expect(renewZoom("", () => null)).toBe("")
  })

  it("ends where its row is gone", () => {
    expect(renewZoom("c.z3-2", () => null)).toBe("c")
  })

  it("is renewed with the page", () => {
    page.value = pageOf({ b: {} })
    zoom.value = { flame: "z1" }
    renewPage(pageOf({ a: {}, b: {} }))
    expect(zoom.value).toEqual({ flame: "z2" })
  })
})

describe("renewing the page", () => {
  it("keeps what is selected", () => {
    page.value = pageOf({ b: {} })
    selection.value = { kind: "node", row: 1 }
    renewPage(pageOf({ a: {}, b: {} }))
    expect(selection.value).toEqual({ kind: "node", row: 2 })
    selection.value = { kind: "kernel", name: "k" }
    renewPage(pageOf({ a: {} }))
    expect(selection.value).toEqual({ kind: "kernel", name: "k" })
  })

  it("selects nothing where that is gone", () => {
    page.value = pageOf({ b: {} })
    selection.value = { kind: "node", row: 1 }
    renewPage(pageOf({ a: {} }))
    expect(selection.value).toBeNull()
    selection.value = { kind: "span", index: 3 }
    renewPage(pageOf({ a: {} }))
    expect(selection.value).toBeNull()
  })

  it("shows the first profile where the shown one is gone", () => {
    page.value = pageOf({}, { b: {} })
    profileIndex.value = 1
    renewPage(pageOf({ a: {} }))
    expect(profileIndex.value).toBe(0)
  })
})

it("contexts that are one stay selected where they are another group now", () => {
  const steps = (names: string[]): Row[] => [[0, "ROOT"], ...names.map((name): Row => [1, name])]
  page.value = pageOfProfiles(profileOf(steps(["step_0", "step_1"]), { folds: [[0, 1, 1], { 1: "step_*" }] }))
  selection.value = { kind: "group", group: 1 }
  renewPage(pageOfProfiles(profileOf(steps(["init", "step_0", "step_1"]), { folds: [[0, 1, 2, 2], { 2: "step_*" }] })))
  expect(selection.value).toEqual({ kind: "group", group: 2 })
  renewPage(pageOfProfiles(profileOf(steps(["init"]))))
  expect(selection.value).toBe(null)
})
