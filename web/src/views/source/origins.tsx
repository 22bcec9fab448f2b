/** In the pane of a kernel that torch.compile made: the lines of the program that it comes from. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { OriginPlace } from "../../schema"
import { count, text } from "../../units"
import { fileNamed, showPlace } from "./source_state"

const MOST = 8

export function Origins({ of, name }: { of: Profile; name: string }): VNode | null {
  const [isAll, setAll] = useState(false)
  const part = of.parts.origins
  const at = part?.name.indexOf(name) ?? -1
  if (part === null || at < 0) return null
  const lines = part.lines[at] ?? []
  return (
    <>
      <h3>comes from</h3>
      <ul class="origins">
        {(isAll ? lines : lines.slice(0, MOST)).map((line) => (
          <Line key={`${line[0]}:${line[1]}:${line[2]}`} of={line} />
        ))}
      </ul>
      {lines.length <= MOST ? null : (
        <button class="link" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "fewer" : `and ${text(count(lines.length - MOST))} more`}
        </button>
      )}
      {(part.remarks[at] ?? []).map((remark) => (
        <p key={remark} class="quiet">{remark}</p>
      ))}
    </>
  )
}

function Line({ of: [path, line, shown, ops, isBackward] }: { of: OriginPlace }): VNode {
  const file = fileNamed(path)
  const title = cutMiddle(`${printable(path)}:${line}`, 1000)
  return (
    <li>
      {file === null ? <span title={title}>{shown}</span> : (
        <button class="link" title={title} onClick={() => showPlace(file, line)}>{shown}</button>
      )}{" "}
      <span class="quiet">{ops}{isBackward ? " (backward)" : ""}</span>
    </li>
  )
}
