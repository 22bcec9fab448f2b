/** Names of Python frames and source lines, the function first: that is what tells them apart. */

/** `a/b/model.py:12@forward` -> `forward  model.py:12`; other names as they are. */
export function frameName(name: string): string {
  const found = /^(.*):(\d+)@(.*)$/.exec(name)
  if (found === null) return name
  const [, file, line, called] = found as unknown as [string, string, string, string]
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)
  return called === "" ? `${base}:${line}` : `${called}  ${base}:${line}`
}
