/** Ranks: how long each took, and in which kernels and scopes the slowest leaves the others behind. */
import type { VNode } from "preact"
import { strongOf } from "../../draw/colors"
import { type RankEntry, entriesOf, marksOf, orderOf } from "../../layout/ranks"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { Rank, RanksPart } from "../../schema"
import { isDark, matcher, profile, selectKernel, selectRow, selectedKernel, selectedRow, setZoom, zoom } from "../../state"
import { count, percent, text, time } from "../../units"
import { TIME, type TableColumn, numberColumn } from "../widgets/columns"
import { Choice, Fact, pathText } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { Table } from "../widgets/table"
import type { View } from "../widgets/view"
import "./tables.css"

const ID = "ranks"
const STRIP = 150 // pixels
const MOST_NUMBERS = 32 // ranks with their number below their column

export const ranks: View = {
  id: ID,
  title: "Ranks",
  key: "r",
  isPresent: (_page, shown) => shown.parts.ranks !== null,
  Component: Ranks,
  Details,
}

/** What the view remembers: `contexts.rank.-excess`. */
interface Look {
  of: "kernels" | "contexts"
  order: "rank" | "time"
  sort: string
}

function readLook(words: string): Look {
  const [of, order, sort] = words.split(".")
  return {
    of: of === "contexts" ? of : "kernels",
    order: order === "time" ? order : "rank",
    sort: sort === undefined || sort === "" ? "-excess" : sort,
  }
}

function change(part: Partial<Look>): void {
  const { of, order, sort } = { ...readLook(zoom.value[ID] ?? ""), ...part }
  const words = `${of}.${order}.${sort}`
  setZoom(ID, words === "kernels.rank.-excess" ? "" : words)
}

function Ranks(): VNode | null {
  const shown = profile.value
  const part = shown === null ? null : shown.parts.ranks
  if (shown === null || part === null) return null
  const hasKernels = part.titles.length > 0
  const look = readLook(zoom.value[ID] ?? "")
  if (!hasKernels) look.of = "contexts"
  return (
    <div class="ranks-view">
      <div class="toolbar">
        <span class="quiet">{timesText(part)}</span>
        <span class="gap" />
        <Choice
          label="order of ranks"
          options={[{ id: "rank", title: "By rank" }, { id: "time", title: "Slowest first" }]}
          value={look.order}
          onPick={(id) => change({ order: id === "time" ? id : "rank" })}
        />
      </div>
      <Strip part={part} order={look.order} />
      <Lost part={part} />
      <div class="toolbar below">
        <Choice
          label="what the table lists"
          options={[
            ...(hasKernels ? [{ id: "kernels", title: "Kernels", hint: "over all their contexts" }] : []),
            { id: "contexts", title: "Scopes and contexts", hint: "each with all that is below it" },
          ]}
          value={look.of}
          onPick={(id) => change({ of: id === "contexts" ? id : "kernels" })}
        />
        <span class="quiet" title="how long the other ranks wait, where ranks wait for each other">“behind”: how much longer the slowest rank took than the median</span>
      </div>
      <Spreads of={shown} part={part} look={look} />
    </div>
  )
}

/** How many ranks there are, and how long they took. */
function timesText({ ranks, times }: RanksPart): string {
  const all = `${ranks.length} ranks, values are summed over them`
  const slowest = times === null ? undefined : ranks[times.slowest]
  if (times === null || slowest === undefined) return all
  const where = slowest.host === "" ? "" : ` on ${printable(slowest.host)}`
  const [least, median, largest] = [times.least_ns, times.median_ns, times.largest_ns].map((each) => text(time(each)))
  return `${all}; time of a rank: ${least} to ${largest}, median ${median}, slowest: rank ${slowest.rank}${where}`
}

/** A column for each rank, as high as its time. */
function Strip({ part, order }: { part: RanksPart; order: "rank" | "time" }): VNode | null {
  const most = Math.max(0, ...part.ranks.map((each) => each.time_ns ?? 0))
  if (most === 0) return null
  const slowest = orderOf(part.ranks, "time")[0]
  const every = Math.ceil(part.ranks.length / MOST_NUMBERS)
  return (
    <div class={every === 1 ? "rank-strip" : "rank-strip many"} role="img" aria-label="time of each rank" onMouseLeave={leave}>
      {orderOf(part.ranks, order).map((place, at) => {
        const rank = part.ranks[place] as Rank
        const color = place === slowest ? "var(--accent)" : strongOf("kernel", isDark.value)
        const share = (rank.time_ns ?? 0) / most
        return (
          <span key={place} onMouseMove={(event) => hover(event, <RankCard rank={rank} />)}>
            <i class={rank.lost > 0 ? "lost" : ""} style={{ height: `calc((100% - var(--foot)) * ${share})`, background: color }} />
            <small>{at % every === 0 ? rank.rank : ""}</small>
          </span>
        )
      })}
    </div>
  )
}

/** What a red cap means, where there is one. */
function Lost({ part }: { part: RanksPart }): VNode | null {
  const some = part.ranks.filter((rank) => rank.lost > 0)
  if (some.length === 0) return null
  const sum = some.reduce((all, rank) => all + rank.lost, 0)
  return <p class="beware rank-lost">red on top: {some.length === part.ranks.length ? "all ranks" : `${some.length} of ${part.ranks.length} ranks`} lost events, {text(count(sum))} in all</p>
}

function RankCard({ rank }: { rank: Rank }): VNode {
  return (
    <>
      <strong>rank {rank.rank}{rank.host === "" ? "" : ` on ${cutMiddle(printable(rank.host), 80)}`}</strong>
      <p class="quiet">{[rank.device, rank.pid === null ? "" : `pid ${rank.pid}`, rank.source].filter((each) => each !== "").map((each) => cutMiddle(printable(each), 120)).join(" · ")}</p>
      <dl>
        <Fact name="time" of={time(rank.time_ns)} />
        <Fact name="kernels" of={count(rank.kernels)} />
        {rank.lost > 0 ? <Fact name="lost events" of={count(rank.lost)} /> : null}
      </dl>
    </>
  )
}

function nameOf(of: Profile, part: RanksPart, look: Look, entry: RankEntry): string {
  if (look.of === "kernels") return part.titles[entry.at] ?? ""
  return entry.at === 0 ? "everything" : of.name(entry.at)
}

function rankText(part: RanksPart, place: number): string {
  const rank = part.ranks[place]
  return rank === undefined ? String(place) : String(rank.rank)
}

function Spreads({ of, part, look }: { of: Profile; part: RanksPart; look: Look }): VNode {
  const spreads = part[look.of]
  const fits = matcher.value
  const all = entriesOf(spreads, part.ranks.length, of.column)
  const rows = fits === null ? all : all.filter((entry) => fits(nameOf(of, part, look, entry)))
  const number = (id: string, title: string, pick: (row: RankEntry) => number, hint?: string): TableColumn<RankEntry> =>
    numberColumn(rows, { id, title, width: 84, as: TIME, of: pick, ...(hint === undefined ? {} : { hint }) })
  const isPath = (row: RankEntry): boolean => look.of === "contexts" && row.at > 0 && of.depths[row.at] !== 1
  const columns: TableColumn<RankEntry>[] = [
    {
      id: "name",
      title: look.of === "kernels" ? "kernel" : "context",
      isText: true,
      name: (row) => nameOf(of, part, look, row),
      whole: (row) => (look.of === "kernels" ? of.whole(part.names[row.at] ?? "") : [...(isPath(row) ? [pathText(of, row.at, 2000)] : []), nameOf(of, part, look, row)].join(" › ")),
      after: (row) => (isPath(row) ? <span class="quiet"> {pathText(of, row.at, 2000)}</span> : null),
      key: (row) => nameOf(of, part, look, row),
    },
    number("least", "fastest", (row) => row.least),
    number("median", "median", (row) => row.median),
    number("largest", "slowest", (row) => row.largest),
    number("excess", "behind", (row) => row.excess, "the slowest rank less the median"),
    { id: "rank", title: "rank", hint: "the slowest one", width: 60, cell: (row) => rankText(part, row.slowest), words: (row) => rankText(part, row.slowest), key: (row) => row.slowest },
    { id: "strip", title: "0 to slowest", hint: "a mark for each rank, the median is the taller one", isText: true, width: STRIP + 26, cell: (row) => <Marks of={row} part={part} /> },
  ]
  const isSelected = (row: RankEntry): boolean =>
    look.of === "kernels" ? part.names[row.at] === selectedKernel.value : row.at === selectedRow.value
  const left = spreads.left_out
  return (
    <>
      <Table
        label={look.of}
        columns={columns}
        rows={rows}
        idOf={(row) => String(row.at)}
        isSelected={isSelected}
        onSelect={(row) => (look.of === "kernels" ? selectKernel(part.names[row.at] ?? "") : selectRow(row.at))}
        sort={look.sort}
        onSort={(sort) => change({ sort })}
      />
      {left > 0 ? <p class="quiet">{text(count(left))} more entries, in which ranks differ less, are not in the page</p> : null}
    </>
  )
}

/** A mark for every rank, from zero to the slowest; the median is taller. */
function Marks({ of, part }: { of: RankEntry; part: RanksPart }): VNode {
  const xOf = (value: number): number => (STRIP * value) / Math.max(of.largest, 1e-12)
  const marks = of.times === null ? [] : marksOf(of.times, of.largest, STRIP)
  return (
    <svg class="marks" width={STRIP + 4} height={14} role="img" aria-label="time of each rank" onMouseMove={(event) => hover(event, <MarksCard of={of} part={part} />)} onMouseLeave={leave}>
      <line x1={0} x2={STRIP} y1={7} y2={7} class="ground" />
      <rect x={xOf(of.least)} width={Math.max(xOf(of.largest) - xOf(of.least), 1)} y={5.5} height={3} class="reach" />
      {marks.map(({ x, count: several }) => <circle key={x} cx={x} cy={7} r={several > 1 ? 3 : 2.2} class="one" />)}
      <rect x={xOf(of.median) - 1} width={2} y={1} height={12} class="middle" />
    </svg>
  )
}

function MarksCard({ of, part }: { of: RankEntry; part: RanksPart }): VNode {
  return (
    <dl>
      <Fact name="fastest" of={time(of.least)} />
      <Fact name="median" of={time(of.median)} />
      <Fact name={`slowest, rank ${rankText(part, of.slowest)}`} of={time(of.largest)} />
      <Fact name="slowest over median" of={of.median > 0 ? percent(of.largest / of.median) : percent(null)} />
    </dl>
  )
}

/** How ranks spread in the selected context or kernel. */
function Details(): VNode | null {
  const shown = profile.value
  const part = shown === null ? null : shown.parts.ranks
  if (shown === null || part === null) return null
  const [row, kernel] = [selectedRow.value, selectedKernel.value]
  const of = row !== null ? "contexts" : "kernels"
  const wanted = row ?? (kernel === null ? -1 : part.names.indexOf(kernel))
  const entry = wanted < 0 ? undefined : entriesOf(part[of], part.ranks.length, shown.column).find(({ at }) => at === wanted)
  if (entry === undefined) return null
  return (
    <section>
      <h3>over {part.ranks.length} ranks</h3>
      <dl>
        <Fact name="fastest" of={time(entry.least)} />
        <Fact name="median" of={time(entry.median)} />
        <Fact name={`slowest, rank ${rankText(part, entry.slowest)}`} of={time(entry.largest)} />
      </dl>
    </section>
  )
}
