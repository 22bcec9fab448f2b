/** The table beside a picture: what a canvas shows, as text that can be found, read aloud and copied. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import type { TableColumn } from "./columns"
import { Table } from "./table"

interface TwinProps<Row> {
  /** What the table lists, in one or two words. */
  label: string
  /** Both are asked for when the table is open. */
  rows(): readonly Row[]
  columns(rows: readonly Row[]): readonly TableColumn<Row>[]
  idOf(row: Row): string
  isSelected?(row: Row): boolean
  onSelect?(row: Row): void
  sort: string
}

export function Twin<Row>({ label, rows, columns, idOf, isSelected, onSelect, sort }: TwinProps<Row>): VNode {
  const [isOpen, setOpen] = useState(false)
  const [order, setOrder] = useState(sort)
  const list = isOpen ? rows() : []
  return (
    <div class="twin">
      <button class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "hide the table" : `${label} as a table`}
      </button>
      {isOpen ? (
        <div class="twin-table">
          <Table
            label={label}
            columns={columns(list)}
            rows={list}
            idOf={idOf}
            isSelected={isSelected ?? (() => false)}
            {...(onSelect === undefined ? {} : { onSelect })}
            sort={order}
            onSort={setOrder}
          />
        </div>
      ) : null}
    </div>
  )
}
