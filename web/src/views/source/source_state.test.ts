import { expect, it } from "vitest"
import { readChoice, writeChoice } from "./source_state"

it("remembers file, line and whether instructions are shown", () => {
  expect(writeChoice({ file: 3, line: 56, sass: true, at: null })).toBe("3.56.1")
  expect(readChoice("3.56.1")).toEqual({ file: 3, line: 56, sass: true, at: null })
  expect(readChoice(writeChoice({ file: null, line: null, sass: true, at: null }))).toEqual({ file: null, line: null, sass: true, at: null })
  expect(writeChoice({ file: null, line: null, sass: false, at: null })).toBe("")
})

it("remembers an instruction, or the code that is shown", () => {
  const one = { file: 0, line: 14, sass: true, at: { kernel: 1, code: 0, offset: 0x2c0 } }
  expect(writeChoice(one)).toBe("0.14.1.1-0-2c0")
  expect(readChoice("0.14.1.1-0-2c0")).toEqual(one)
  const code = { file: null, line: null, sass: true, at: { kernel: 1, code: 2, offset: null } }
  expect(readChoice(writeChoice(code))).toEqual(code)
})

it("takes nothing from an address that makes no sense", () => {
  for (const text of ["", "3", "a.b.c", "3.56.2", "-3.1.0", "3.56.1.x", "3.56.1.1-2c0", "3.56.1.1-0-zz"]) {
    expect(readChoice(text)).toEqual({ file: null, line: null, sass: false, at: null })
  }
})
