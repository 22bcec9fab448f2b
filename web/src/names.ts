/** Texts from profiles as people may read them: nothing invisible, nothing that turns the line around. */
import type { Place } from "./schema"

const ELLIPSIS = "…"
// Control characters, marks that reorder text, invisible characters, lone surrogates.
const UNSAFE =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** `text` with every character that cannot be seen written as an escape. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (found) => {
    const code = found.charCodeAt(0)
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
  })
}

/** `text` in at most `room` letters; what is cut away is in the middle. */
export function cutMiddle(text: string, room: number): string {
  if (text.length <= room) return text
  if (room <= 1) return ELLIPSIS.slice(0, Math.max(room, 0))
  const tail = (room - 1) >> 1
  return text.slice(0, room - 1 - tail) + ELLIPSIS + text.slice(text.length - tail)
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path
}

/** Paths as short as can be without two of them looking the same. */
export function distinctPaths(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split("/"))
  const tail = (at: number, size: number): string => (parts[at] as string[]).slice(-size).join("/")
  return paths.map((_, at) => {
    const longest = (parts[at] as string[]).length
    for (let size = 1; size < longest; size++) {
      const shown = tail(at, size)
      if (!paths.some((_other, other) => other !== at && tail(other, size) === shown)) return shown
    }
    return paths[at] as string
  })
}

/** `forward  model.py:12`: the function of a place, its file without the folders, its line. */
export function frameName([file, line, called]: Place): string {
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)
  return printable(called === "" ? `${base}:${line}` : `${called}  ${base}:${line}`)
}

/** A name in at most `room` letters; namespaces of C++ go first, then its middle. */
export function shortened(name: string, room: number): string {
  return name.length <= room ? name : cutMiddle(withoutNamespaces(name), room)
}

/** `at::native::reduce_kernel<512, at::Sum>` -> `reduce_kernel<512, at::Sum>`. */
export function withoutNamespaces(name: string): string {
  return name.replace(/^(?:[A-Za-z_]\w*::)+(?=[A-Za-z_~])/, "")
}
