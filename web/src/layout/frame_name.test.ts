import { expect, test } from "vitest"
import { frameName, shortened, withoutNamespaces } from "./frame_name"

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
