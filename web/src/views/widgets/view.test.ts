import { expect, it } from "vitest"
import { needsLine } from "./view"
import { VIEWS } from "../shell/registry"

it("every view that may have nothing to show says what it needs", () => {
  const silent = VIEWS.map((each) => each.id).filter((id) => needsLine(id) === "")
  expect(silent.filter((id) => id !== "summary" && id !== "flame")).toEqual([])
})

it("a view that nobody knows needs nothing", () => {
  expect(needsLine("nonsense")).toBe("")
  expect(needsLine("constructor")).toBe("")
})
