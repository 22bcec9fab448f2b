/** Tables of one kernel: its regions, the values it recorded, its accesses to memory. */
import type { VNode } from "preact"
import { colorOfRegion, strongOf } from "../../draw/colors"
import { baseName, cutMiddle, printable } from "../../names"
import type { KernelRecords, RegionRow } from "../../schema"
import { isDark, profile, selection, view } from "../../state"
import { MISSING, count, plain } from "../../units"
import { choose, place } from "../source/source_state"
import { COUNT, MEMORY, type Measure, type NumberColumn, PLAIN, SHARE, TIME, type TableColumn, amounts, numberColumn, wordColumn } from "../widgets/columns"
import { PlainTable } from "../widgets/plain_table"

type ValueRow = KernelRecords["values"][number]
type AccessRow = KernelRecords["accesses"][number]

const ROOM = 110 // pixels of a spread

export function Regions({ of }: { of: KernelRecords }): VNode {
  const rows = [...of.regions.keys()]
  return (
    <section>
      <h3>regions</h3>
      <PlainTable kind="regions" label="regions" columns={regionColumns(of, rows)} rows={rows} idOf={String} />
      {of.region_notes.map((note) => <p key={note} class="quiet note">{note}</p>)}
    </section>
  )
}

function regionColumns(of: KernelRecords, rows: readonly number[]): TableColumn<number>[] {
  const region = (at: number): RegionRow => of.regions[at] as RegionRow
  const color = (at: number): string => colorOfRegion(at, isDark.value)
  const known = of.regions.filter((each) => each.min !== null && each.max !== null && (each.min ?? 0) > 0)
  const least = Math.min(...known.map((each) => each.min as number))
  const most = Math.max(...known.map((each) => each.max as number))
  // Files of other tools know less: a column that is empty is none.
  const number = (id: string, as: Measure, pick: (row: RegionRow) => number | null, more: Partial<NumberColumn<number>> = {}): TableColumn<number>[] =>
    of.regions.every((row) => pick(row) === null) ? [] : [numberColumn(rows, { id, title: id, width: 0, as, of: (at) => pick(region(at)), ...more })]
  const cycles = (id: string, pick: (row: RegionRow) => number | null): TableColumn<number>[] =>
    number(id, CYCLES, pick, { hint: "of one passage in cycles, over warps", mark: (at) => roughOf(pick(region(at)), of.error_cycles) })
  const kindOf = (at: number): string => [printable(region(at).kind), region(at).every || ""].filter((each) => each !== "").join(" ")
  return [
    {
      id: "region",
      title: "region",
      isText: true,
      words: (at) => printable(region(at).name),
      cell: (at) => (
        <span class="region-name" title={printable(region(at).name)} style={{ paddingLeft: `${16 * region(at).depth}px` }}>
          <span class="swatch" style={{ background: color(at) }} />
          {printable(region(at).name)} <span class="quiet kind">{kindOf(at)}</span>
        </span>
      ),
    },
    { id: "line", title: "line", isText: true, cell: (at) => <Place file={region(at).file} line={region(at).line} />, words: (at) => placeText(region(at).file, region(at).line) },
    ...number("passages", COUNT, (row) => row.count, { hint: "how often warps went through it" }),
    ...number("cycles", amounts(""), (row) => row.cycles, { hint: "of all warps" }),
    ...number("share", SHARE, (row) => row.share, { hint: "of the outermost regions", bar: { share: (at) => region(at).share, color } }),
    ...cycles("p10", (row) => row.p10),
    ...cycles("p50", (row) => row.p50),
    ...cycles("p90", (row) => row.p90),
    ...number("per warp", CYCLES, (row) => row.per_warp, { hint: "cycles of a warp; how its passages spread is not in the file" }),
    ...(known.length > 0 && most > least
      ? [{ id: "spread", title: "spread", isText: true, hint: "shortest, p10, p50, p90 and longest passage, on a logarithmic scale", cell: (at: number) => <Spread of={region(at)} least={least} most={most} /> }]
      : []),
    ...number("average", TIME, (row) => row.mean_ns, { hint: "of one passage" }),
  ]
}

/** Whole cycles from a thousand on, three digits below. */
const CYCLES: Measure = { unit: "cycles", writer: () => (value) => (value === null || value === undefined ? plain(null) : value >= 1000 ? count(Math.round(value)) : plain(value)) }

/** Why a number of cycles is marked: it may be off by more than a tenth. */
function roughOf(cycles: number | null, error: number | null): string | undefined {
  return cycles !== null && error !== null && cycles > 0 && error > 0.1 * cycles ? `may be off by ${error} cycles` : undefined
}

/** Shortest to longest as a line, p10 to p90 as a box, p50 as a mark. */
function Spread({ of, least, most }: { of: RegionRow; least: number; most: number }): VNode | null {
  const { min, p10, p50, p90, max } = of
  if (min === null || max === null || min <= 0) return null
  const xOf = (value: number): number => (ROOM * Math.log(value / least)) / Math.log(most / least)
  return (
    <svg class="spread" width={ROOM} height={12} role="img" aria-label={`from ${min} to ${max} cycles`}>
      <line x1={xOf(min)} x2={xOf(max)} y1={6} y2={6} class="reach" />
      {p10 === null || p90 === null ? null : (
        <rect x={xOf(p10)} width={Math.max(xOf(p90) - xOf(p10), 1.5)} y={2} height={8} class="most" />
      )}
      {p50 === null ? null : <rect x={xOf(p50) - 1} width={2} y={1} height={10} class="middle" />}
    </svg>
  )
}

function placeText(file: string, line: number): string {
  const name = printable(baseName(file))
  return line === 0 ? name || MISSING : `${name}:${line}`
}

/** A place in the source, and a way there. */
export function Place({ file, line }: { file: string; line: number }): VNode {
  const words = placeText(file, line)
  const samples = profile.value?.parts.sampled ?? null
  const at = samples?.files.findIndex((each) => each.path === file) ?? -1
  if (at < 0 || line === 0) return <span title={cutMiddle(printable(file), 1000)}>{words}</span>
  const go = (): void => {
    choose({ file: at, line, at: null })
    if (place.value?.file !== at) selection.value = null // that of a kernel that has nothing in this file
    view.value = "source"
  }
  return <button class="link" title={cutMiddle(printable(file), 1000)} onClick={go}>{words}</button>
}

/** Numbers that a kernel recorded itself. */
export function Values({ of }: { of: KernelRecords }): VNode {
  const rows = of.values
  const number = (title: string, as: Measure, pick: (row: ValueRow) => number | null, hint?: string): TableColumn<ValueRow> =>
    numberColumn(rows, { id: title, title, width: 0, as, of: pick, ...(hint === undefined ? {} : { hint }) })
  const isOdd = rows.some((value) => value.not_finite > 0) // of integers none is
  const columns = [
    wordColumn<ValueRow>({ id: "value", title: "value", width: 0, of: (value) => printable(value.name) }),
    number("count", COUNT, (value) => value.count),
    ...(isOdd ? [number("not finite", COUNT, (value) => value.not_finite, "NaN and infinities, which mean, min and max leave out")] : []),
    number("mean", PLAIN, (value) => value.mean),
    number("min", PLAIN, (value) => value.min),
    number("max", PLAIN, (value) => value.max),
  ]
  return (
    <section>
      <h3>values</h3>
      <PlainTable kind="regions values" label="values" columns={columns} rows={rows} idOf={(value) => value.name} />
    </section>
  )
}

const MOST = 200

export function Accesses({ of }: { of: KernelRecords }): VNode {
  const more = of.accesses.length - MOST
  const rows = of.accesses.slice(0, MOST)
  const words = (title: string, pick: (site: AccessRow) => string): TableColumn<AccessRow> => wordColumn({ id: title, title, width: 0, of: (site) => printable(pick(site)) || MISSING })
  const columns: TableColumn<AccessRow>[] = [
    words("access", (site) => site.name),
    { id: "line", title: "line", isText: true, cell: (site) => <Place file={site.file} line={site.line} />, words: (site) => placeText(site.file, site.line) },
    words("kind", (site) => site.kind),
    words("tensor", (site) => site.tensor),
    numberColumn(rows, { id: "accesses", title: "accesses", hint: "of lanes", width: 0, as: COUNT, of: (site) => site.accesses }),
    numberColumn(rows, { id: "bytes", title: "bytes", width: 0, as: MEMORY, of: (site) => site.bytes }),
    numberColumn(rows, {
      id: "share",
      title: "share",
      width: 0,
      as: SHARE,
      of: (site) => site.share,
      bar: { share: (site) => site.share, color: () => strongOf("copy", isDark.value) },
    }),
  ]
  return (
    <section>
      <h3>memory accesses</h3>
      <PlainTable kind="regions" label="memory accesses" columns={columns} rows={rows} idOf={(site) => String(rows.indexOf(site))} />
      {more > 0 ? <p class="quiet note">{more} smaller accesses are not listed</p> : null}
      {of.access_notes.map((note) => <p key={note} class="quiet note">{note}</p>)}
    </section>
  )
}
