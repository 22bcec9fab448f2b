import { expect, it } from "vitest"
import { SHARE, TIME, type TableColumn, numberColumn } from "./columns"
import { commaSeparated, tabbed } from "./export"

type Row = readonly [string, number | null, number]
const ROWS: readonly Row[] = [
  ["matmul_4096x4096x4096", 407_123_456, 0.3531],
  ['reduce<float, "a">', null, 0.1],
  ["=HYPERLINK(1)", 12_000, 0.00001],
]
const COLUMNS: readonly TableColumn<Row>[] = [
  { id: "name", title: "kernel", name: (row) => row[0].slice(0, 6), whole: (row) => row[0] },
  numberColumn(ROWS, { id: "time", title: "time", width: 90, as: TIME, of: (row) => row[1] }),
  numberColumn(ROWS, { id: "share", title: "share", width: 90, as: SHARE, of: (row) => row[2] }),
  { id: "bar", title: "picture", cell: () => null },
]

it("copies what is shown, with whole names", () => {
  expect(tabbed(COLUMNS, ROWS).split("\n")).toEqual([
    "kernel\ttime\tshare",
    "matmul_4096x4096x4096\t407 ms\t35.3 %",
    'reduce<float, "a">\t–\t10.0 %',
    "=HYPERLINK(1)\t0.012 ms\t<0.1 %",
  ])
})

it("writes numbers as they were measured, units in the head, and no formulas", () => {
  expect(commaSeparated(COLUMNS, ROWS).split("\r\n")).toEqual([
    "kernel,time (ns),share (%)",
    "matmul_4096x4096x4096,407123456,35.31",
    '"reduce<float, ""a"">",,10',
    "'=HYPERLINK(1),12000,0.001",
    "",
  ])
})
