import { expect, it } from "vitest"
import { said } from "./said"

it("divides facts and writes units as the page does", () => {
  expect(said("a CTA p50 24.0 us, p99 28.1 us   tail 44 ns")).toBe("a CTA p50 24.0 µs, p99 28.1 µs · tail 44 ns")
})

it("leaves other words as they are, but for what cannot be seen", () => {
  expect(said("focus us on \u202eit")).toBe("focus us on \\u202eit")
})
