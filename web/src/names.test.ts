import { expect, it } from "vitest"
import { baseName, cutMiddle, distinctPaths, printable } from "./names"

it("writes out what cannot be seen or turns the line around", () => {
  expect(printable("a\u202eb\u0000c\u200b")).toBe("a\\u202eb\\x00c\\u200b")
  expect(printable("\ud800x\udc00")).toBe("\\ud800x\\udc00")
})

it("leaves what people write alone", () => {
  const plain = "größe <b>&\"' 矩阵 😀"
  expect(printable(plain)).toBe(plain)
})

it("cuts the middle out of long names", () => {
  expect(cutMiddle("abcdefghij", 10)).toBe("abcdefghij")
  expect(cutMiddle("abcdefghij", 7)).toBe("abc…hij")
  expect(cutMiddle("abcdefghij", 1)).toBe("…")
  expect(cutMiddle("x".repeat(10_000), 80)).toHaveLength(80)
})

it("takes the last part of a path", () => {
  expect([baseName("a/b.hatchet"), baseName("b"), baseName("a/")]).toEqual(["b.hatchet", "b", "a/"])
})

it("shows of paths only what tells them apart", () => {
  expect(distinctPaths(["/a/run.hatchet", "/a/old.hatchet"])).toEqual(["run.hatchet", "old.hatchet"])
  expect(distinctPaths(["/x/a/run", "/x/b/run", "c"])).toEqual(["a/run", "b/run", "c"])
  expect(distinctPaths(["a/run", "a/run"])).toEqual(["a/run", "a/run"])
  expect(distinctPaths([])).toEqual([])
})
