import { expect, it } from "vitest"
import { contrast } from "./colors"
import { colorOfReason } from "./reasons"

const KNOWN = [
  "selected", "not_selected", "long_scoreboard", "short_scoreboard", "wait", "barrier", "membar", "lg_throttle",
  "mio_throttle", "tex_throttle", "math_pipe_throttle", "imc_miss", "no_instructions", "branch_resolving",
  "dispatch_stall", "drain", "sleeping", "warpgroup_arrive", "gmma", "misc",
]

it("gives every reason a colour of its own", () => {
  for (const dark of [false, true]) {
    expect(new Set(KNOWN.map((name) => colorOfReason(name, dark))).size).toBe(KNOWN.length)
  }
})

it("is seen on both grounds", () => {
  for (const name of [...KNOWN, "of hardware to come"]) {
    expect(contrast(colorOfReason(name, false), "#ffffff")).toBeGreaterThan(1.4)
    expect(contrast(colorOfReason(name, true), "#14171b")).toBeGreaterThan(2)
  }
})

it("is grey for a reason of hardware to come", () => {
  expect(colorOfReason("new_throttle", false)).toBe(colorOfReason("", false))
})
