/** The index of a folder that `proton serve` shows: its recordings, and two of them to compare. */
import { useEffect, useState } from "preact/hooks"
import type { VNode } from "preact"
import type { FolderData, FolderRow } from "../../schema"
import { matcherOf } from "../../state"
import { MISSING } from "../../units"
import { COUNT, MEMORY, TIME, type TableColumn, numberColumn, wordColumn } from "../widgets/columns"
import { Table } from "../widgets/table"
import "./folder.css"

const CHANGES = "changes"
const NEWEST_FIRST = "-changed"

/** What survives the page's renewals. */
interface Kept {
  chosen: readonly string[]
  sort: string
  search: string
}

function keptBefore(): Kept {
  const state = history.state as Partial<Kept> | null
  return { chosen: state?.chosen ?? [], sort: state?.sort ?? NEWEST_FIRST, search: state?.search ?? "" }
}

export function Folder({ of }: { of: FolderData }): VNode {
  const [kept, setKept] = useState<Kept>(keptBefore)
  const { chosen, sort, search } = kept
  const keep = (part: Partial<Kept>): void => setKept({ ...kept, ...part })
  useEffect(reloadOnChanges, [])
  useEffect(() => history.replaceState(kept, ""), [kept])
  const ticked = of.rows.map((row) => row.link).filter((link) => chosen.includes(link))
  const compare = (): void => {
    location.href = `view/${[...ticked].reverse().join("/")}/#view=diff` // the older one first
  }
  const tick = (link: string): void => keep({ chosen: chosen.includes(link) ? chosen.filter((each) => each !== link) : [...chosen, link] })
  const fits = matcherOf(search)
  const rows = fits === null ? of.rows : of.rows.filter((row) => fits(row.name) || fits(row.device))
  return (
    <>
      <header>
        <span class="brand">proton</span>
        <h1 class="source">{of.path}</h1>
        <span class="gap" />
        <label class="search">
          <input type="search" placeholder="search" aria-label="search profiles" value={search} onInput={(event) => keep({ search: event.currentTarget.value })} />
        </label>
        <button class="compare" disabled={ticked.length !== 2} title="tick two profiles" onClick={compare}>Compare two</button>
      </header>
      <main class="folder">
        {of.problem === "" ? null : <p class="problem">{of.problem}</p>}
        <Table
          label="profiles"
          columns={columnsOf(rows, chosen, tick)}
          rows={rows}
          idOf={(row) => row.link}
          isSelected={(row) => chosen.includes(row.link)}
          sort={sort}
          onSort={(next) => keep({ sort: next })}
        />
      </main>
    </>
  )
}

function columnsOf(rows: readonly FolderRow[], chosen: readonly string[], tick: (link: string) => void): TableColumn<FolderRow>[] {
  return [
    {
      id: "tick",
      title: "",
      width: 36,
      isText: true,
      cell: (row) => <input type="checkbox" checked={chosen.includes(row.link)} aria-label={`compare ${row.name}`} onChange={() => tick(row.link)} />,
    },
    {
      id: "name",
      title: "profile",
      isText: true,
      key: (row) => row.name.toLowerCase(),
      words: (row) => row.name,
      cell: (row) => (
        <>
          <a class="link" href={`view/${row.link}/`} title={row.name}>{row.name}</a>
          {row.is_open ? <span class="good"> ● recording now</span> : null}
          {row.problem === "" ? null : <span class="problem" title={row.problem}> cannot be read</span>}
          {row.note === "" ? null : <span class="quiet"> {row.note}</span>}
        </>
      ),
    },
    wordColumn({ id: "kind", title: "kind", width: 90, of: (row) => row.kind }),
    wordColumn({ id: "device", title: "device", width: 150, of: (row) => row.device || MISSING }),
    numberColumn(rows, { id: "kernels", title: "kernel runs", width: 110, as: COUNT, of: (row) => row.kernels }),
    numberColumn(rows, { id: "time", title: "total time", width: 110, as: TIME, of: (row) => row.time_ns }),
    numberColumn(rows, { id: "size", title: "size", width: 100, as: MEMORY, of: (row) => row.size_bytes }),
    wordColumn({ id: "changed", title: "changed (UTC)", width: 160, of: changedText, key: (row) => row.changed_s }),
  ]
}

function changedText(row: FolderRow): string {
  return new Date(row.changed_s * 1000).toISOString().slice(0, 19).replace("T", " ")
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
