/** A table as long as its rows, inside a view that scrolls: the first screen, regions of a kernel. */
import type { ComponentChildren, VNode } from "preact"
import { useRef } from "preact/hooks"
import { useSize } from "./canvas_hooks"
import type { TableColumn } from "./columns"
import { Export } from "./export"
import { Cell, useLabels } from "./label"
import { isReading } from "./table"
import "./table.css"

const PADDING = 34 // of a cell with a name, its swatch included

interface PlainTableProps<Row> {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  isSelected?(row: Row): boolean
  onSelect?(row: Row): void
  /** What stands below the table, before its buttons. */
  foot?: ComponentChildren
  /** A class of the table itself. */
  kind: string
}

export function PlainTable<Row>(props: PlainTableProps<Row>): VNode {
  const { columns, rows, onSelect } = props
  const head = useRef<HTMLTableCellElement>(null)
  const { width } = useSize(head, { width: 400, height: 0 })
  const nameOf = columns.find((column) => column.name !== undefined)?.name
  const labels = useLabels(nameOf === undefined ? [] : rows.map(nameOf), width - PADDING, 13)
  return (
    <>
      <div class="wide">
        <table class={props.kind} aria-label={props.label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.id} class={classOf(column)} title={column.hint} {...(column.name === undefined ? {} : { ref: head })}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={props.idOf(row)} aria-selected={props.isSelected?.(row)} onClick={() => isReading() || onSelect?.(row)}>
                {columns.map((column) => (
                  <td key={column.id} class={classOf(column)} title={column.whole?.(row)}>
                    <Cell column={column} row={row} label={labels[at]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="table-foot">
        {props.foot}
        <span class="gap" />
        <Export label={props.label} columns={columns} rows={rows} />
      </div>
    </>
  )
}

function classOf<Row>(column: TableColumn<Row>): string {
  const words = [column.name === undefined ? (column.isText === true ? "left" : "") : "name", column.gives === undefined ? "" : `gives-${column.gives}`]
  return words.filter((word) => word !== "").join(" ")
}
