/** A table whose columns sort it, whose rows select, and which draws only the rows that are seen. */
import type { ComponentChildren, VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { type Key, scrollTo, sorted, visibleRows } from "../../layout/rows"
import "./table.css"

export const ROW_HEIGHT = 24
const LEAST = 230 // pixels of the column that takes what is left
const LETTER = 7.2 // pixels of a letter, about

export interface TableColumn<Row> {
  id: string
  title: string
  /** What the column tells, where its title does not. */
  hint?: string
  /** Pixels; the column without one takes what is left, and at least `LEAST`. */
  width?: number
  isText?: boolean
  /** Letters that units of its numbers need; 0 for plain ones. */
  unit?: number
  /** Whether its numbers are whole: no room for a fraction. */
  isWhole?: boolean
  /** What a cell shows; `room` is its width in pixels. */
  cell(row: Row, room: number): ComponentChildren
  /** What the column is sorted by; without it, it does not sort. */
  key?(row: Row): Key
}

export interface TableProps<Row> {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  isSelected(row: Row): boolean
  onSelect?(row: Row): void
  /** A column's id, with `-` before it where the largest comes first. */
  sort: string
  onSort(sort: string): void
  classOf?(row: Row): string
}

/** Goes up or down in the table that is shown; null where none has rows to select. */
export const tableStep: { current: ((step: number) => void) | null } = { current: null }

/** Up and down select the row before or after the one at `at`; the first where none is selected. */
export function useArrows<Row>(rows: readonly Row[], at: number, onSelect: ((row: Row) => void) | undefined): void {
  useLayoutEffect(() => {
    if (onSelect === undefined) return undefined
    tableStep.current = (step) => {
      const next = at < 0 ? rows[0] : rows[at + step]
      if (next !== undefined) onSelect(next)
    }
    return () => {
      tableStep.current = null
    }
  })
}

export function Table<Row>(props: TableProps<Row>): VNode {
  const { columns, rows, sort } = props
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 600, width: 900 })
  const ordered = orderOf(rows, columns, sort)
  const selectedAt = ordered.findIndex(props.isSelected)
  const selectedId = selectedAt < 0 ? "" : props.idOf(ordered[selectedAt] as Row)

  useLayoutEffect(() => {
    const box = place.current
    if (box === null) return undefined
    const watch = new ResizeObserver(() => setSeen({ top: box.scrollTop, height: box.clientHeight, width: box.clientWidth }))
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => {
    const box = place.current
    if (box === null || selectedAt < 0) return
    box.scrollTop = scrollTo(selectedAt, ROW_HEIGHT, box.scrollTop, box.clientHeight - ROW_HEIGHT - 4)
  }, [selectedId, sort])

  useArrows(ordered, selectedAt, props.onSelect)

  const window = visibleRows(ordered.length, ROW_HEIGHT, seen.top, seen.height)
  const fixed = columns.reduce((sum, column) => sum + (column.width ?? 0), 0)
  const left = Math.max(LEAST, seen.width - fixed)
  return (
    <div
      class="table"
      ref={place}
      onScroll={(event) => setSeen({ ...seen, top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <table aria-label={props.label} aria-rowcount={ordered.length} style={{ minWidth: `${fixed + LEAST}px` }}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.id} style={column.width === undefined ? {} : { width: `${column.width}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {window.above > 0 ? <tr class="space" style={{ height: `${window.above}px` }} aria-hidden="true" /> : null}
          {ordered.slice(window.from, window.to).map((row, at) => (
            <tr
              key={props.idOf(row)}
              aria-rowindex={window.from + at + 1}
              aria-selected={props.isSelected(row)}
              class={props.classOf?.(row) ?? ""}
              onClick={() => props.onSelect?.(row)}
            >
              {columns.map((column) => (
                <td key={column.id} class={classOf(column)} style={{ "--unit": `${column.unit ?? 2.3}ch` }}>
                  {column.cell(row, column.width ?? left)}
                </td>
              ))}
            </tr>
          ))}
          {window.below > 0 ? <tr class="space" style={{ height: `${window.below}px` }} aria-hidden="true" /> : null}
        </tbody>
      </table>
    </div>
  )
}

function classOf<Row>(column: TableColumn<Row>): string {
  return column.isText === true ? "text" : column.isWhole === true ? "whole" : ""
}

function Head<Row>(props: { column: TableColumn<Row>; sort: string; onSort(sort: string): void }): VNode {
  const { column, sort, onSort } = props
  const [name, isDown] = partsOf(sort)
  const isSorted = column.key !== undefined && name === column.id
  const kind = column.isText === true ? "text" : ""
  if (column.key === undefined) return <th class={kind} title={column.hint}>{column.title}</th>
  const first = column.isText === true ? column.id : `-${column.id}`
  const other = isDown ? column.id : `-${column.id}`
  return (
    <th class={kind} title={column.hint} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}>
      <button onClick={() => onSort(isSorted ? other : first)}>
        {column.title}
        <span class="arrow">{isSorted ? (isDown ? "▾" : "▴") : ""}</span>
      </button>
    </th>
  )
}

/** How many letters of a name fit into a column. */
export function lettersIn(room: number): number {
  return Math.max(12, Math.floor((room - 34) / LETTER))
}

/** The rows in the order that `sort` asks for; as they are where no such column is. */
function orderOf<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[], sort: string): readonly Row[] {
  const [name, isDown] = partsOf(sort)
  const key = columns.find((column) => column.id === name)?.key
  return key === undefined ? rows : sorted(rows, key, isDown)
}

function partsOf(sort: string): [string, boolean] {
  return sort.startsWith("-") ? [sort.slice(1), true] : [sort, false]
}
