/** A table whose columns sort it, whose rows select, and which draws only the rows that are seen. */
import type { ComponentChildren, VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { scrollTo, sorted, visibleRows } from "../../layout/rows"
import type { TableColumn } from "./columns"
import { Export } from "./export"
import { Cell, useLabels, widthOf } from "./label"
import "./table.css"

export const ROW_HEIGHT = 24
/** Pixels of a table's head and foot together. */
export const TABLE_FRAME = 54
const LEAST = 230 // pixels of the column that takes what is left
const MOST_SHARE = 0.42 // of the table, for names that are longer
const PADDING = 40 // of a cell with a name, its swatch included

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
  /** What stands below the table, before its buttons. */
  foot?: ComponentChildren
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
  const [dragged, setDragged] = useState<number | null>(null)
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
  const nameOf = columns.find((column) => column.name !== undefined)?.name
  const names = nameOf === undefined ? [] : ordered.map(nameOf)
  const wanted = names.reduce((most, name) => Math.max(most, widthOf(name)), 0) + PADDING
  const least = Math.min(LEAST, seen.width / 2)
  // Where all columns fit, they are seen; where they do not, the table scrolls anyway and names have room.
  const rest = seen.width - fixed
  const left = dragged ?? (rest >= least ? rest : Math.max(least, Math.min(wanted, MOST_SHARE * seen.width)))
  const labels = useLabels(names, left - PADDING)
  return (
    <div class="table-box">
      <div
        class="table"
        ref={place}
        role="region"
        aria-label={`${props.label}, scrollable`}
        tabIndex={0}
        onScroll={(event) => setSeen({ ...seen, top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
      >
        <table aria-label={props.label} aria-rowcount={ordered.length} style={dragged === null ? { minWidth: `${fixed + left}px` } : { width: `${fixed + left}px` }}>
          <colgroup>
            {columns.map((column) => (
              <col key={column.id} style={{ width: column.width === undefined ? (dragged === null ? "auto" : `${left}px`) : `${column.width}px` }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.id} column={column} sort={sort} onSort={props.onSort}>
                  {column.name === undefined ? null : <Handle width={left} onDrag={setDragged} />}
                </Head>
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
                onClick={() => isReading() || props.onSelect?.(row)}
              >
                {columns.map((column) => (
                  <td key={column.id} class={column.isText === true ? "text" : ""} title={column.whole?.(row)}>
                    <Cell column={column} row={row} label={labels[window.from + at]} />
                  </td>
                ))}
              </tr>
            ))}
            {window.below > 0 ? <tr class="space" style={{ height: `${window.below}px` }} aria-hidden="true" /> : null}
          </tbody>
        </table>
      </div>
      <div class="table-foot">
        {props.foot}
        <span class="gap" />
        <Export label={props.label} columns={columns} rows={ordered} />
      </div>
    </div>
  )
}

/** Whether somebody marks text to copy it: then a click selects nothing. */
export function isReading(): boolean {
  return (getSelection()?.toString() ?? "") !== ""
}

/** The edge of the column of names, which can be dragged, and moved by the arrow keys. */
function Handle({ width, onDrag }: { width: number; onDrag(width: number | null): void }): VNode {
  const start = useRef({ x: 0, width: 0 })
  const set = (next: number): void => onDrag(Math.max(80, Math.round(next)))
  return (
    <span
      class="handle"
      role="separator"
      aria-orientation="vertical"
      aria-label="width of the names"
      aria-valuenow={Math.round(width)}
      aria-valuemin={80}
      tabIndex={0}
      title="drag: width of the names; double click: as it was"
      onPointerDown={(event) => {
        start.current = { x: event.clientX, width }
        event.currentTarget.setPointerCapture(event.pointerId)
        event.preventDefault()
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) set(start.current.width + event.clientX - start.current.x)
      }}
      onDblClick={() => onDrag(null)}
      onKeyDown={(event) => {
        const step = event.key === "ArrowRight" ? 16 : event.key === "ArrowLeft" ? -16 : 0
        if (step === 0) return
        set(width + step)
        event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
}

function Head<Row>(props: { column: TableColumn<Row>; sort: string; onSort(sort: string): void; children: ComponentChildren }): VNode {
  const { column, sort, onSort } = props
  const [name, isDown] = partsOf(sort)
  const isSorted = column.key !== undefined && name === column.id
  const kind = column.isText === true ? "text" : ""
  if (column.key === undefined) return <th class={kind} title={column.hint}>{column.title}{props.children}</th>
  const first = column.isText === true ? column.id : `-${column.id}`
  const other = isDown ? column.id : `-${column.id}`
  return (
    <th class={kind} title={column.hint} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}>
      <button onClick={() => onSort(isSorted ? other : first)}>
        {column.title}
        <span class="arrow">{isSorted ? (isDown ? "▾" : "▴") : ""}</span>
      </button>
      {props.children}
    </th>
  )
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
