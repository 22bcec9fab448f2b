/** Numbers and units to text by the rule of render/units.py; tests/golden/units.json holds both to it.
 *
 * Three significant digits, thousands in groups, a dash for what is missing, never a zero for it.
 * A number is given in pieces, so that columns line up on the decimal point; numbers that stand
 * above each other have one unit, a `Scale`.
 */

export const MISSING = "–"
const GROUP = "\u202f" // narrow no-break space
const NO_BREAK = "\u00a0"

/** A number as it is shown: what stands before the point, the point and the rest, the unit. */
export interface Quantity {
  whole: string
  fraction: string
  unit: string
}

type Maybe = number | null | undefined

function isMissing(value: Maybe): value is null | undefined {
  return value === null || value === undefined || Number.isNaN(value)
}

const missing: Quantity = { whole: MISSING, fraction: "", unit: "" }

/** `value` with three significant digits: 1 071, 92.4, 1.90, 0.0312. */
export function digits(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return "0"
  if (size >= 1e15 || size < 1e-4) return value.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2")
  if (size >= 99.95) return grouped(Math.round(value))
  if (size >= 9.995) return value.toFixed(1)
  if (size >= 0.9995) return value.toFixed(2)
  return value.toPrecision(3)
}

/** A whole number in groups of three: 83 800. */
export function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, GROUP)
}

function pieces(text: string, unit: string): Quantity {
  const point = text.indexOf(".")
  if (point < 0 || text.includes("e")) return { whole: text, fraction: "", unit }
  return { whole: text.slice(0, point), fraction: text.slice(point), unit }
}

/** The unit in which a time reads best, and its length in nanoseconds. */
export function timeUnit(ns: number): [string, number] {
  const size = Math.abs(ns)
  if (size < 1e3) return ["ns", 1]
  if (size < 1e6) return ["µs", 1e3]
  if (size < 1e10) return ["ms", 1e6]
  return ["s", 1e9]
}

/** A time, in the unit that reads best or in the one given. */
export function time(ns: Maybe, unit?: [string, number]): Quantity {
  if (isMissing(ns)) return missing
  const [name, length] = unit ?? timeUnit(ns)
  return pieces(ns !== 0 && name === "ns" && Number.isInteger(ns) ? grouped(ns) : digits(ns / length), name)
}

const PREFIXES: readonly [string, number][] = [
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
]

/** An amount with a decimal prefix before its unit: 612 TFLOP/s, 1.90 TB/s, 48.0 kFLOP. */
export function amount(value: Maybe, unit: string): Quantity {
  if (isMissing(value)) return missing
  const size = Math.abs(value)
  let chosen = PREFIXES[0] as [string, number]
  for (const prefix of PREFIXES) if (size >= 0.9995 * prefix[1]) chosen = prefix
  const text = chosen[1] === 1 && Number.isInteger(value) ? grouped(value) : digits(value / chosen[1])
  return pieces(text, chosen[0] + unit)
}

/** One unit for numbers that stand above each other, and how much it is. */
export interface Scale {
  unit: string
  size: number
}

const TIMES: readonly Scale[] = [
  { unit: "ns", size: 1 },
  { unit: "µs", size: 1e3 },
  { unit: "ms", size: 1e6 },
  { unit: "s", size: 1e9 },
]
const FINEST = 3 // decimals in a scale

/** The unit for a column of times. */
export function timeScale(values: Iterable<Maybe>): Scale {
  const [least, largest] = reach(values)
  return finer(TIMES, TIMES.findIndex(({ unit }) => unit === timeUnit(largest)[0]), least, largest)
}

/** The unit for a column of amounts: kB, MB ... */
export function amountScale(values: Iterable<Maybe>, unit: string): Scale {
  const [least, largest] = reach(values)
  const scales = PREFIXES.map(([prefix, size]) => ({ unit: prefix + unit, size }))
  return finer(scales, scales.findLastIndex(({ size }) => largest >= 0.9995 * size), least, largest)
}

/** The size of memory or of a file: 96.0 KiB. Rates and what is moved at them have decimal prefixes. */
export function memory(value: Maybe): Quantity {
  if (isMissing(value)) return missing
  const scale = BINARY.findLast(({ size }) => value >= size) ?? (BINARY[0] as Scale)
  return pieces(scale.size === 1 ? grouped(value) : (value / scale.size).toFixed(1), scale.unit)
}

const BINARY: readonly Scale[] = ["B", "KiB", "MiB", "GiB", "TiB"].map((unit, power) => ({ unit, size: 1024 ** power }))

/** The unit for a column of bytes in memory: KiB, MiB ... */
export function memoryScale(values: Iterable<Maybe>): Scale {
  const [least, largest] = reach(values)
  return finer(BINARY, BINARY.findLastIndex(({ size }) => largest >= size), least, largest)
}

/** The smallest and the largest size of numbers; zeros say nothing. */
function reach(values: Iterable<Maybe>): [number, number] {
  let [least, largest] = [Number.POSITIVE_INFINITY, 0]
  for (const value of values) {
    const size = isMissing(value) ? 0 : Math.abs(value)
    if (size > largest) largest = size
    if (size > 0 && size < least) least = size
  }
  return [least, largest]
}

/** The unit of the largest; one below it where the smallest needs that and the largest stays short. */
function finer(scales: readonly Scale[], at: number, least: number, largest: number): Scale {
  const scale = scales[Math.max(at, 0)] as Scale
  const needsFiner = at > 0 && largest < 9.995 * scale.size && least < 0.9995 * scale.size
  return needsFiner ? (scales[at - 1] as Scale) : scale
}

/** A number in the unit of its column; what is too small to show there says so. */
export function inScale(value: Maybe, scale: Scale): Quantity {
  if (isMissing(value)) return missing
  const [number, { unit }] = [value / scale.size, scale]
  const size = Math.abs(number)
  if (size > 0 && size < 0.5 / 10 ** FINEST) return { whole: number > 0 ? "<0" : ">-0", fraction: ".001", unit }
  if (scale.size === 1 && Number.isInteger(value)) return pieces(grouped(value), unit)
  return pieces(size > 0 && size < 0.9995 ? number.toFixed(FINEST) : digits(number), unit)
}

/** A share of 1 in percent, with one decimal; what is too small to show says so. */
export function percent(share: Maybe): Quantity {
  if (isMissing(share)) return missing
  const value = 100 * share
  if (value !== 0 && Math.abs(value) < 0.05) return { whole: value > 0 ? "<0" : ">-0", fraction: ".1", unit: "%" }
  return pieces(value.toFixed(1), "%")
}

/** A count, every digit of it; from a million on three significant digits. */
export function count(value: Maybe): Quantity {
  if (isMissing(value)) return missing
  if (Math.abs(value) >= 1e7) return amount(value, "")
  return Number.isInteger(value) ? pieces(grouped(value), "") : pieces(digits(value), "")
}

/** A plain number with its unit. */
export function plain(value: Maybe, unit = ""): Quantity {
  return isMissing(value) ? missing : pieces(digits(value), unit)
}

/** Any metric's value by its name: `time (ns)`, `bytes`, `flops16`, `util`. */
export function metricQuantity(metric: string, value: Maybe): Quantity {
  const unit = unitOf(metric)
  if (unit === "ns") return time(value)
  if (unit === "us") return time(isMissing(value) ? value : value * 1e3)
  if (unit === "ms") return time(isMissing(value) ? value : value * 1e6)
  if (unit === "s") return time(isMissing(value) ? value : value * 1e9)
  if (unit === "%") return plain(value, "%")
  if (/^bytes/.test(metric)) return amount(value, "B")
  if (/^flops/.test(metric)) return amount(value, "FLOP")
  return unit === "" ? count(value) : plain(value, unit)
}

/** The unit for a column of a metric's values; null where `metricQuantity` gives them one unit anyway. */
export function metricScale(metric: string, values: Iterable<Maybe>): Scale | null {
  if (unitOf(metric) === "ns") return timeScale(values)
  if (/^bytes/.test(metric)) return amountScale(values, "B")
  return /^flops/.test(metric) ? amountScale(values, "FLOP") : null
}

/** The unit in a metric's name: `time (ns)` -> `ns`; empty without one. */
export function unitOf(metric: string): string {
  const unit = / \(([^()]*)\)$/.exec(metric)?.[1] ?? ""
  return unit === "inc" || unit === "exc" || unit === "pty" ? "" : unit
}

/** What people call a metric: `time (ns)` -> `time`. */
export function plainName(metric: string): string {
  return (metric.split("(", 1)[0] ?? "").trim() || metric
}

/** A quantity as one text. */
export function text(quantity: Quantity): string {
  const number = quantity.whole + quantity.fraction
  return quantity.unit === "" ? number : number + NO_BREAK + quantity.unit
}

/** A moment as people write it, in the reader's own time zone: 2026-11-15 10:12. */
export function moment(unixNs: number | null): string {
  if (unixNs === null) return ""
  const date = new Date(unixNs / 1e6)
  if (Number.isNaN(date.getTime())) return ""
  const two = (value: number): string => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** A time with every digit, in nanoseconds: 55 123 456 ns. */
export function exactTime(ns: number): Quantity {
  const whole = Math.trunc(ns)
  const rest = Math.abs(ns - whole)
  const fraction = rest < 5e-4 || rest > 1 - 5e-4 ? "" : rest.toFixed(3).slice(1).replace(/0+$/, "")
  return { whole: grouped(fraction === "" ? ns : whole), fraction, unit: "ns" }
}

/** A moment to the nanosecond: the Unix time of the trace's zero, as digits, and nanoseconds after it. */
export function exactMoment(baseNs: string, ns: number): string {
  const unix = BigInt(baseNs) + BigInt(Math.round(ns))
  const date = new Date(Number(unix / 1_000_000n))
  if (Number.isNaN(date.getTime())) return ""
  const [day = "", clock = ""] = date.toISOString().split("T")
  return `${day} ${clock.slice(0, 8)}.${(unix % 1_000_000_000n).toString().padStart(9, "0")} UTC`
}
