/** Columns of tables: numbers in one unit, lined up on their decimal points, and names. */
import type { ComponentChildren } from "preact"
import type { Key } from "../../layout/rows"
import { MISSING, type Quantity, amountScale, count, inScale, memoryScale, percent, plain, text, timeScale } from "../../units"
import { BarCell, Num, signOf } from "./facts"

/** What a table needs to know of a column. */
export interface TableColumn<Row> {
  id: string
  title: string
  /** What the column tells, where its title does not. */
  hint?: string
  /** Pixels; the column without one takes what is left. */
  width?: number
  isText?: boolean
  /** Gives way first (1) or second (2) where room is short. */
  gives?: 1 | 2
  /** What a cell shows; a column of names has none. */
  cell?(row: Row): ComponentChildren
  /** The name that a cell shows, cut so that those of the column stay distinct. */
  name?(row: Row): string
  /** The name with all that belongs to it, for hints and files. */
  whole?(row: Row): string
  /** What stands before and behind the name. */
  before?(row: Row): ComponentChildren
  after?(row: Row): ComponentChildren
  /** What the column is sorted by; without it, it does not sort. */
  key?(row: Row): Key
  /** What a cell tells as text; columns of pictures have none. */
  words?(row: Row): string
  /** The number of a cell as it was measured, and its unit, for files. */
  raw?(row: Row): number | null
  rawUnit?: string
}

type Values = Iterable<number | null | undefined>

/** How numbers of a column are written; `unit` is that of the numbers themselves. */
export interface Measure {
  unit: string
  /** `raw` times this is in `unit`. */
  factor?: number
  writer(values: Values): (value: number | null | undefined) => Quantity
}

export const TIME: Measure = {
  unit: "ns",
  writer: (values) => {
    const scale = timeScale(values)
    return (value) => inScale(value, scale)
  },
}
export const SHARE: Measure = { unit: "%", factor: 100, writer: () => percent }
export const COUNT: Measure = { unit: "", writer: () => count }
export const PLAIN: Measure = { unit: "", writer: () => (value) => plain(value) }

/** Sizes of memory and of files: KiB, MiB. */
export const MEMORY: Measure = {
  unit: "B",
  writer: (values) => {
    const scale = memoryScale(values)
    return (value) => inScale(value, scale)
  },
}

/** Amounts with a decimal prefix: `amounts("B/s")`. */
export function amounts(unit: string): Measure {
  return {
    unit,
    writer: (values) => {
      const scale = amountScale(values, unit)
      return (value) => inScale(value, scale)
    },
  }
}

export interface NumberColumn<Row> {
  id: string
  title: string
  width: number
  of(row: Row): number | null | undefined
  as: Measure
  hint?: string
  gives?: 1 | 2
  /** Why a number is marked as rough; undefined where it is not. */
  mark?(row: Row): string | undefined
  /** Why a number is the least that it may be, or is not known; undefined where it is. */
  least?(row: Row): string | undefined
  /** A bar before the number. */
  bar?: { share(row: Row): number | null; color(row: Row): string }
}

const POINT = 0.45 // of a digit's width, about

/** A column of numbers over `rows`, all in one unit. */
export function numberColumn<Row>(rows: readonly Row[], spec: NumberColumn<Row>): TableColumn<Row> {
  const { of, as, bar, mark, least } = spec
  const write = as.writer(valuesOf(rows, of))
  const most = Math.max(0, decimalsOf(write(leastOf(rows, of))))
  const padOf = (quantity: Quantity): number => {
    const own = decimalsOf(quantity)
    if (quantity.whole === MISSING) return 0
    return most - own + (own === 0 && most > 0 ? POINT : 0)
  }
  return {
    id: spec.id,
    title: spec.title,
    width: spec.width,
    ...(spec.hint === undefined ? {} : { hint: spec.hint }),
    ...(spec.gives === undefined ? {} : { gives: spec.gives }),
    key: (row) => of(row) ?? null,
    cell: (row) => {
      const quantity = write(of(row))
      const shared = { of: quantity, mark: mark?.(row), least: least?.(row), pad: padOf(quantity) }
      return bar === undefined ? <Num {...shared} /> : <BarCell {...shared} isShort={as.unit === "%"} share={bar.share(row)} color={bar.color(row)} />
    },
    words: (row) => signOf(write(of(row)), { mark: mark?.(row), least: least?.(row) }) + text(write(of(row))),
    raw: (row) => {
      const value = of(row) ?? null
      return value === null || Number.isNaN(value) ? null : value * (as.factor ?? 1)
    },
    rawUnit: as.unit,
  }
}

function decimalsOf({ fraction }: Quantity): number {
  return Math.max(fraction.length - 1, 0)
}

function* valuesOf<Row>(rows: readonly Row[], of: (row: Row) => number | null | undefined): Values {
  for (const row of rows) yield of(row)
}

/** The smallest number but zero: it has the most decimals. */
function leastOf<Row>(rows: readonly Row[], of: (row: Row) => number | null | undefined): number | null {
  let least: number | null = null
  for (const value of valuesOf(rows, of)) {
    if (value === null || value === undefined || Number.isNaN(value) || value === 0) continue
    if (least === null || Math.abs(value) < Math.abs(least)) least = value
  }
  return least
}

/** A column of words. */
export function wordColumn<Row>(spec: { id: string; title: string; width: number; of(row: Row): string; key?(row: Row): Key; hint?: string }): TableColumn<Row> {
  const { of, ...others } = spec
  return { key: of, ...others, isText: true, cell: (row) => <span title={of(row)}>{of(row)}</span>, words: of }
}
