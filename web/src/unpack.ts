/** The page's data from its element to plain objects and binary columns: what render/page/pack.py wrote. */
import type { PageData } from "./schema"

const PAGE_FORMAT = "proton-page/2"

/** Element types of binary columns. */
type ColumnType = "f64" | "f32" | "u32" | "i32" | "u16" | "u8"
export type Column = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array

/** Something that the reader of the page should know in one line. */
export class PageError extends Error {}

/** What the data says of itself does not fit: a page that was cut, or made by another version. */
export function damaged(): PageError {
  return new PageError("The data of this page is damaged: its parts do not fit. Write the page again with proton report.")
}

/** The container, taken apart. */
export interface Container {
  page: PageData
  column(id: string): Column
}

const ARRAYS: Record<ColumnType, { new (buffer: ArrayBuffer, offset: number, length: number): Column }> = {
  f64: Float64Array,
  f32: Float32Array,
  u32: Uint32Array,
  i32: Int32Array,
  u16: Uint16Array,
  u8: Uint8Array,
}

/** Base64 of a gzip of a container -> the container. */
export async function unpackText(text: string): Promise<Container> {
  if (typeof DecompressionStream === "undefined") {
    throw new PageError(
      "This browser cannot decompress the profile (no DecompressionStream); use Chrome 80, Firefox 113, Safari 16.4 or newer.",
    )
  }
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = fromBase64(text.trim())
  } catch {
    throw new PageError("The data of this page is damaged: it is not base64. Write the page again with proton report.")
  }
  let buffer: ArrayBuffer
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
    buffer = await new Response(stream).arrayBuffer()
  } catch {
    throw new PageError("The data of this page is damaged or cut short. Copy the file again, or write it again with proton report.")
  }
  return unpack(buffer)
}

/** The bytes of a container -> the container. */
export function unpack(buffer: ArrayBuffer): Container {
  if (buffer.byteLength < 4) throw damaged()
  const length = new DataView(buffer).getUint32(0, true)
  if (4 + length > buffer.byteLength) throw damaged()
  let page: PageData
  try {
    page = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as PageData
  } catch {
    throw damaged()
  }
  if (page === null || typeof page !== "object" || !Array.isArray(page.profiles)) throw damaged()
  if (page.format !== PAGE_FORMAT) {
    throw new PageError(`This page cannot read data of format ${String(page.format)}; write it again with proton report.`)
  }
  const base = Math.ceil((4 + length) / 8) * 8
  const column = (id: string): Column => {
    const entry = page.columns[id]
    if (entry === undefined) throw damaged()
    const [type, offset, size] = entry
    const array = ARRAYS[type as ColumnType]
    if (array === undefined) throw damaged()
    try {
      return new array(buffer, base + offset, size)
    } catch {
      throw damaged()
    }
  }
  return { page, column }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64
  if (native !== undefined) return native.call(Uint8Array, text)
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
