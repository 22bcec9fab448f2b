/** The boxes that are seen, as a table: every name in full, to be found, read aloud and copied. */
import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { FlameLayout } from "../../layout/flame/boxes"
import { printable } from "../../names"
import { isDark, metric } from "../../state"
import { grouped, inScale, metricQuantity, metricScale, plainName, unitOf } from "../../units"
import { COUNT, type Measure, SHARE, type TableColumn, numberColumn } from "../widgets/columns"
import { shortName } from "../widgets/facts"
import { Table } from "../widgets/table"
import { changeText } from "./card"
import { type Flames, bothOf, changeShare, isEverything, titleOf, wayNames } from "./flame_state"

export const isTableShown = signal(false)

const sort = signal("-value")

/** What a box is called, in full. */
function wholeName(of: Flames, box: number): string {
  if (isEverything(of, box)) return "everything"
  return printable(titleOf(of, box) ?? of.of.wholeName(of.tree.row(box)))
}

/** The names of the boxes between it and the root, or the middle of a sandwich. */
function pathOf(of: Flames, box: number): string {
  const way = wayNames(of, box).join(" › ")
  return of.sandwich === null || way === "" ? way : `${of.tree.depth(box) < 0 ? "called" : "below"} ${way}`
}

function measureOf(name: string): Measure {
  return {
    unit: unitOf(name),
    writer: (values) => {
      const scale = metricScale(name, values)
      return (value) => (scale === null ? metricQuantity(name, value) : inScale(value, scale))
    },
  }
}

interface TableOf {
  of: Flames
  layout: FlameLayout
  isSelected(box: number): boolean
  onPick(box: number): void
}

/** How the boxes of two profiles differ, where colours tell that. */
function changeColumns(of: Flames, rows: readonly number[]): TableColumn<number>[] {
  const [first] = rows
  if (first === undefined || bothOf(of, first) === null) return []
  const share = (box: number): number => changeShare(bothOf(of, box) ?? { before: 0, after: 0 })
  const told = (box: number): string => changeText(bothOf(of, box)) ?? ""
  const side = (id: "before" | "after"): TableColumn<number> => numberColumn(rows, { id, title: id, width: 100, as: measureOf(metric.value), of: (box) => bothOf(of, box)?.[id] })
  return [side("before"), side("after"), { id: "change", title: "change", width: 84, key: share, cell: told, words: told }]
}

export function FlameTable({ of, layout, isSelected, onPick }: TableOf): VNode {
  const { tree } = of
  const rows = [...layout.boxes.keys()].filter((place) => layout.hidden[place] === 0).map((place) => layout.boxes[place] as number)
  const left = layout.hidden.reduce((sum, many) => sum + many, 0)
  const [name, dark] = [metric.value, isDark.value]
  const columns: TableColumn<number>[] = [
    {
      id: "name",
      title: "name",
      isText: true,
      name: (box) => (isEverything(of, box) ? "everything" : printable(titleOf(of, box) ?? shortName(of.of, tree.row(box)))),
      whole: (box) => wholeName(of, box),
      key: (box) => wholeName(of, box),
      before: (box) => <span class="swatch" style={{ background: strongOf(hueOfKind(of.of.kind(tree.row(box))), dark) }} />,
    },
    numberColumn(rows, {
      id: "value",
      title: printable(plainName(name)),
      width: 110,
      as: measureOf(name),
      of: (box) => tree.width(box),
    }),
    numberColumn(rows, { id: "share", title: "share", width: 84, as: SHARE, of: (box) => tree.width(box) / (of.widths[0] as number) }),
    ...changeColumns(of, rows),
    numberColumn(rows, { id: "contexts", title: "contexts", width: 84, as: COUNT, of: (box) => tree.rows(box).length }),
    numberColumn(rows, { id: "level", title: "level", width: 66, as: COUNT, of: (box) => tree.depth(box) }),
    { id: "path", title: of.sandwich === null ? "below" : "way", width: 280, isText: true, key: (box) => pathOf(of, box), cell: (box) => <span title={pathOf(of, box)}>{pathOf(of, box)}</span>, words: (box) => pathOf(of, box) },
  ]
  return (
    <section class="flame-table" aria-label="boxes in view">
      <Table
        label="boxes in view"
        columns={columns}
        rows={rows}
        idOf={String}
        isSelected={isSelected}
        onSelect={onPick}
        sort={sort.value}
        onSort={(to) => (sort.value = to)}
        foot={left > 0 ? <span>{grouped(left)} more are too narrow to be drawn; zoom in for them</span> : null}
      />
    </section>
  )
}
