import { expect, it, test } from "vitest"
import { baseName, cutMiddle, distinctPaths, frameName, printable, shortened, withoutNamespaces } from "./names"

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

test("the function comes first, and of the file only its name", () => {
  expect(frameName(["/opt/lib/torch/nn/module.py", 1790, "_call_impl"])).toBe("_call_impl  module.py:1790")
  expect(frameName(["C:\\\\w\\\\a.py", 3, "f"])).toBe("f  a.py:3")
  expect(frameName(["kernel.py", 7, ""])).toBe("kernel.py:7")
})

test("what cannot be seen in a name is written out", () => {
  expect(frameName(["a\u202e.py", 3, "f"])).toBe("f  a\\u202e.py:3")
})

test("namespaces go first where there is no room, and only those in front", () => {
  const name = "at::native::reduce_kernel<512, at::Sum>"
  expect(shortened(name, 60)).toBe(name)
  expect(shortened(name, 30)).toBe("reduce_kernel<512, at::Sum>")
  expect(shortened(name, 15)).toBe("reduce_…t::Sum>")
  expect(withoutNamespaces("plain_kernel")).toBe("plain_kernel")
  expect(withoutNamespaces("a::")).toBe("a::")
})
