import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, it, vi } from "vitest"
import { PageError, unpack, unpackText } from "./unpack"

const HEAD = { format: "proton-page/2", made_by: "x", profiles: [], diff: null, columns: { "0": ["u16", 0, 3], "1": ["f64", 8, 1] } }

function container(head: unknown = HEAD): ArrayBuffer {
  const json = new TextEncoder().encode(JSON.stringify(head))
  const base = Math.ceil((4 + json.length) / 8) * 8
  const buffer = new ArrayBuffer(base + 16)
  new DataView(buffer).setUint32(0, json.length, true)
  new Uint8Array(buffer, 4).set(json)
  new Uint16Array(buffer, base, 3).set([1, 2, 65535])
  new Float64Array(buffer, base + 8, 1).set([0.25])
  return buffer
}

const packed = (buffer: ArrayBuffer): string => gzipSync(new Uint8Array(buffer)).toString("base64")

afterEach(() => vi.unstubAllGlobals())

describe("the container", () => {
  it("gives back objects and columns", async () => {
    const found = await unpackText(`\n${packed(container())}\n`)
    expect(found.page.made_by).toBe("x")
    expect([...found.column("0")]).toEqual([1, 2, 65535])
    expect([...found.column("1")]).toEqual([0.25])
  })

  it.each([
    ["not base64", "?!?"],
    ["nothing", ""],
    ["not compressed", "AAAA"],
    ["cut short", packed(container()).slice(0, -24)],
    ["too short for a length", packed(new ArrayBuffer(2))],
    ["no JSON", packed(new ArrayBuffer(16))],
  ])("says in one line that data is damaged: %s", async (_what, text) => {
    await expect(unpackText(text)).rejects.toThrow(/damaged.*proton report/)
    await expect(unpackText(text)).rejects.toBeInstanceOf(PageError)
  })

  it("says that another version wrote it", () => {
    expect(() => unpack(container({ ...HEAD, format: "proton-page/9" }))).toThrow("proton-page/9")
  })

  it("refuses columns that are not there or do not fit", () => {
    const found = unpack(container({ ...HEAD, columns: { far: ["f64", 8, 99], odd: ["f99", 0, 1] } }))
    for (const id of ["far", "odd", "gone"]) expect(() => found.column(id)).toThrow(PageError)
  })

  it("says what a browser lacks", async () => {
    vi.stubGlobal("DecompressionStream", undefined)
    await expect(unpackText("AAAA")).rejects.toThrow("DecompressionStream")
  })
})
