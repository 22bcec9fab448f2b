import { expect, it } from "vitest"
import { readChoice, writeChoice } from "./source_state"

it("remembers file, line and whether instructions are shown", () => {
  expect(writeChoice({ file: 3, line: 56, sass: true })).toBe("3.56.1")
  expect(readChoice("3.56.1")).toEqual({ file: 3, line: 56, sass: true })
  expect(readChoice(writeChoice({ file: null, line: null, sass: true }))).toEqual({ file: null, line: null, sass: true })
  expect(writeChoice({ file: null, line: null, sass: false })).toBe("")
})

it("takes nothing from an address that makes no sense", () => {
  for (const text of ["", "3", "a.b.c", "3.56.2", "-3.1.0"]) {
    expect(readChoice(text)).toEqual({ file: null, line: null, sass: false })
  }
})
