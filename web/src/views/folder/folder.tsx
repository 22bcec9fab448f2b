/** The index of a folder that `proton serve` shows: its recordings, and two of them to compare. */
import { useEffect, useState } from "preact/hooks"
import type { VNode } from "preact"
import type { FolderData, FolderRow } from "../../schema"
import { amount, count, text, time } from "../../units"
import "./folder.css"

const CHANGES = "changes"

export function Folder({ of }: { of: FolderData }): VNode {
  // Ticks survive the page's renewals.
  const [chosen, setChosen] = useState<readonly string[]>(() => (history.state as string[] | null) ?? [])
  useEffect(reloadOnChanges, [])
  useEffect(() => history.replaceState(chosen, ""), [chosen])
  const ticked = of.rows.map((row) => row.link).filter((link) => chosen.includes(link))
  const compare = (): void => {
    location.href = `view/${[...ticked].reverse().join("/")}/#view=diff` // the older one first
  }
  const tick = (link: string): void => setChosen(chosen.includes(link) ? chosen.filter((each) => each !== link) : [...chosen, link])
  return (
    <>
      <header>
        <span class="brand">proton</span>
        <span class="source">{of.path}</span>
        <span class="gap" />
        <button class="compare" disabled={ticked.length !== 2} title="tick two profiles" onClick={compare}>Compare two</button>
      </header>
      <main class="folder">
        {of.problem === "" ? null : <p class="problem">{of.problem}</p>}
        <table>
          <thead>
            <tr>
              <th />
              <th class="text">profile</th>
              <th class="text">kind</th>
              <th class="text">device</th>
              <th>kernel runs</th>
              <th>total time</th>
              <th>size</th>
              <th>changed (UTC)</th>
            </tr>
          </thead>
          <tbody>
            {of.rows.map((row) => (
              <Recording key={row.link} of={row} isTicked={chosen.includes(row.link)} onTick={() => tick(row.link)} />
            ))}
          </tbody>
        </table>
      </main>
    </>
  )
}

function Recording({ of, isTicked, onTick }: { of: FolderRow; isTicked: boolean; onTick(): void }): VNode {
  return (
    <tr>
      <td>
        <input type="checkbox" checked={isTicked} aria-label={`compare ${of.name}`} onChange={onTick} />
      </td>
      <td class="text profile">
        <a class="link" href={`view/${of.link}/`}>{of.name}</a>
        {of.is_open ? <span class="good"> ● recording now</span> : null}
      </td>
      <td class="text">{of.kind}</td>
      <td class="text">{of.problem === "" ? of.device : <span class="problem" title={of.problem}>cannot be read</span>}</td>
      <td>{text(count(of.kernels))}</td>
      <td>{text(time(of.time_ns))}</td>
      <td>{text(amount(of.size_bytes, "B"))}</td>
      <td class="quiet">{new Date(of.changed_s * 1000).toISOString().slice(0, 19).replace("T", " ")}</td>
    </tr>
  )
}

/** Load the page again when the folder is another one than it was. Returns what ends it. */
function reloadOnChanges(): () => void {
  const stream = new EventSource(CHANGES)
  let known: string | null = null
  stream.onmessage = (event: MessageEvent<string>) => {
    if (known !== null && known !== event.data) location.reload()
    known = event.data
  }
  return () => stream.close()
}
