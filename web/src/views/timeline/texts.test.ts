import { describe, expect, it } from "vitest"
import { argumentName, argumentText, causeText } from "./texts"

describe("arguments of launches", () => {
  it("have names and values as people say them", () => {
    expect(argumentName("dynamic_shared_bytes")).toBe("dynamic shared")
    expect(argumentName("Frequency (MHz)")).toBe("Frequency (MHz)")
    expect(argumentText("dynamic_shared_bytes", 98_304)).toBe("96.0\u00a0KiB")
    expect(argumentText("grid", [132, 1, 1])).toBe("132\u202f×\u202f1\u202f×\u202f1")
    expect(argumentText("occupancy", 0.1875)).toBe("18.8\u00a0%")
    expect(argumentText("registers", 168)).toBe("168")
  })

  it("hide nothing that turns a line around", () => {
    expect(argumentText("function", "a\u202eb")).toBe("a\\u202eb")
    expect(argumentName("x\u202ey")).toBe("x\\u202ey")
  })
})

describe("causes", () => {
  it("are explained", () => {
    for (const cause of ["host busy", "waiting for a copy", "waiting for another stream", "launch latency", "not known"]) {
      expect(causeText(cause)).not.toBe("")
    }
  })
})
