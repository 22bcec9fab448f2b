/** Names cut to what tells them apart: of frames the function first, of C++ no namespaces. */
import { cutMiddle } from "../names"

/** `a/b/model.py:12@forward` -> `forward  model.py:12`; other names as they are. */
export function frameName(name: string): string {
  const found = /^(.*):(\d+)@(.*)$/.exec(name)
  if (found === null) return name
  const [, file, line, called] = found as unknown as [string, string, string, string]
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)
  return called === "" ? `${base}:${line}` : `${called}  ${base}:${line}`
}

/** A name in at most `room` letters; namespaces of C++ go first, then its middle. */
export function shortened(name: string, room: number): string {
  return name.length <= room ? name : cutMiddle(withoutNamespaces(name), room)
}

/** `at::native::reduce_kernel<512, at::Sum>` -> `reduce_kernel<512, at::Sum>`. */
export function withoutNamespaces(name: string): string {
  return name.replace(/^(?:[A-Za-z_]\w*::)+(?=[A-Za-z_~])/, "")
}
