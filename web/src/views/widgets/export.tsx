/** Every table can be taken along: copied as text for a ticket, or as a file of comma-separated values. */
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { baseName } from "../../names"
import { profile } from "../../state"
import type { TableColumn } from "./columns"

const SAID_MS = 1500

/** A name or text of a cell in full; null for columns of pictures. */
function wordsOf<Row>(column: TableColumn<Row>): ((row: Row) => string) | null {
  return column.whole ?? column.name ?? column.words ?? null
}

/** The table as text with tabs: what is shown, with whole names. */
export function tabbed<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const told = columns.filter((column) => wordsOf(column) !== null)
  const line = (words: string[]): string => words.map((word) => word.replaceAll(/[\t\r\n]/g, " ").replaceAll("\u00a0", " ")).join("\t")
  return [line(told.map((column) => column.title)), ...rows.map((row) => line(told.map((column) => wordsOf(column)?.(row) ?? "")))].join("\n")
}

/** The table as comma-separated values: whole names, numbers as they were measured, units in the head. */
export function commaSeparated<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const told = columns.filter((column) => column.raw !== undefined || wordsOf(column) !== null)
  const title = (column: TableColumn<Row>): string => (column.rawUnit ? `${column.title} (${column.rawUnit})` : column.title)
  const cell = (column: TableColumn<Row>, row: Row): string => {
    if (column.raw !== undefined) return String(column.raw(row) ?? "")
    return quoted(wordsOf(column)?.(row) ?? "")
  }
  return [told.map((column) => quoted(title(column))), ...rows.map((row) => told.map((column) => cell(column, row)))].map((line) => `${line.join(",")}\r\n`).join("")
}

/** Names come from profiles: one that begins like a formula is told to be none. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Put text on the clipboard. The event is the reader's own copying, so no browser asks, from files neither. */
function copyText(text: string): void {
  const onCopy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text)
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener("copy", onCopy, { capture: true, once: true })
  document.execCommand("copy")
  document.removeEventListener("copy", onCopy, { capture: true })
}

function saveText(text: string, name: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" })) // the mark tells spreadsheets that it is UTF-8
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** The two buttons of a table. */
export function Export<Row>(props: { label: string; columns: readonly TableColumn<Row>[]; rows: readonly Row[] }): VNode {
  const { label, columns, rows } = props
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const file = `${baseName(profile.value?.source ?? "proton")}.${label.replaceAll(/\W+/g, "-")}.csv`
  const copy = (): void => {
    copyText(tabbed(columns, rows))
    setCopied(true)
  }
  return (
    <span class="export">
      <button title="copy the table as text, with whole names" aria-label={`copy ${label}`} onClick={copy}>
        {isCopied ? "Copied" : "Copy"}
      </button>
      <button title="save the table as a file: whole names, numbers as they were measured" aria-label={`save ${label} as CSV`} onClick={() => saveText(commaSeparated(columns, rows), file)}>
        CSV
      </button>
    </span>
  )
}
