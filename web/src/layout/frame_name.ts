/** Names cut to what tells them apart: of frames the function first, of C++ no namespaces. */
import { cutMiddle, printable } from "../names"
import type { Place } from "../schema"

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
