/** A profile's file, as plain objects, checked and taken apart into columns.
 *
 * The one place that trusts nothing: past it, a Recording is well formed and never changes.
 * Walks are loops over rows, because trees may be thousands of levels deep.
 */
import { CYCLES, DEVICE_ID, FORMAT_VERSION, KIND_LETTERS, METRIC_KINDS, type MetricKind, NUM_SAMPLES, TIME_NS } from "./format"

/** A file is not what it should be; the message begins with its path. */
export class FormatError extends Error {}

/** One metric: the rows that have it, ascending, and their values. */
export interface Measured {
  rows: number[]
  values: number[]
}

/** How the runs of a kernel in one context spread, and how it was launched. */
export interface KernelDetail {
  min: number | null
  max: number | null
  p50: number | null
  p99: number | null
  attributes: Readonly<Record<string, unknown>>
}

export interface Device {
  type: string
  id: string
  arch: string
  name: string | null
  attributes: Readonly<Record<string, unknown>>
}

/** Who recorded what, where and when; empty where the file does not say. */
export interface Header {
  session: string
  context: string
  data: string
  backends: readonly string[]
  mode: string
  command: readonly string[]
  host: string
  pid: number | null
  rank: number | null
  version: string
  python: string
  triton: string
  startNs: number | null
  endNs: number | null
  phases: readonly number[]
}

/** Everything that the page takes from a file. Rows are nodes in depth-first order. */
export interface Recording {
  source: string
  names: readonly string[]
  kinds: string
  parents: Int32Array
  metrics: ReadonlyMap<string, Measured>
  labels: ReadonlyMap<string, ReadonlyMap<number, string>>
  details: ReadonlyMap<number, KernelDetail>
  metricKinds: Readonly<Record<string, MetricKind>>
  header: Header
  devices: readonly Device[]
  losses: Readonly<Record<string, number>>
  warnings: readonly string[]
}

type Plain = Record<string, unknown>

/** The value of a hatchet file -> a recording. */
export function readDocument(value: unknown, source: string): Recording {
  const fail = (why: string): never => {
    throw new FormatError(`${source}: ${why}`)
  }
  if (!Array.isArray(value) || value.length < 1) return fail("not a profile: it is no list of a root and a device map")
  const root: unknown = value[0]
  const found = isObject(root) ? root["proton"] : undefined
  const said: Plain = isObject(found) ? found : {}
  const format = numberOf(said["format"]) ?? 0
  if (format > FORMAT_VERSION) return fail(`format ${format} is newer than this page reads (${FORMAT_VERSION})`)
  const nodes = readNodes(root, fail)
  const size = nodes.names.length
  const kinds = said["kinds"]
  return {
    source,
    ...nodes,
    parents: Int32Array.from(nodes.parents),
    kinds: isKinds(kinds, size) ? kinds : inferKinds(nodes),
    details: readDetails(said["kernels"], size, fail),
    metricKinds: readMetricKinds(said["metric_kinds"]),
    header: readHeader(said),
    devices: readDevices(value[1]),
    losses: numbersOf(said["losses"]),
    warnings: textsOf(said["warnings"]),
  }
}

interface Nodes {
  names: string[]
  parents: number[]
  metrics: Map<string, Measured>
  labels: Map<string, Map<number, string>>
}

function readNodes(root: unknown, fail: (why: string) => never): Nodes {
  const nodes: Nodes = { names: [], parents: [], metrics: new Map(), labels: new Map() }
  const pending: [unknown, number][] = [[root, -1]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, parent] = next
    const row = nodes.names.length
    if (!isObject(node)) return fail(`node ${row} is not an object`)
    const frame = node["frame"]
    const name = isObject(frame) ? frame["name"] : undefined
    if (typeof name !== "string") return fail(`node ${row} has no frame name`)
    nodes.names.push(name)
    nodes.parents.push(parent)
    const metrics = node["metrics"] ?? {}
    if (!isObject(metrics)) return fail(`node ${row} has metrics that are not an object`)
    for (const metric in metrics) addMetric(nodes, row, metric, metrics[metric], fail)
    const children = node["children"] ?? []
    if (!Array.isArray(children)) return fail(`node ${row} has children that are not a list`)
    for (let at = children.length - 1; at >= 0; at--) pending.push([children[at], row])
  }
  return nodes
}

function addMetric(nodes: Nodes, row: number, metric: string, value: unknown, fail: (why: string) => never): void {
  if (typeof value === "number") {
    let found = nodes.metrics.get(metric)
    if (found === undefined) nodes.metrics.set(metric, (found = { rows: [], values: [] }))
    found.rows.push(row)
    found.values.push(value)
  } else if (typeof value === "string") {
    let found = nodes.labels.get(metric)
    if (found === undefined) nodes.labels.set(metric, (found = new Map()))
    found.set(row, value)
  } else if (!Array.isArray(value)) {
    fail(`node ${row} has a metric ${JSON.stringify(metric)} that is no number, list or text`)
  }
}

const KINDS = new RegExp(`^r[${KIND_LETTERS}]*$`)

function isKinds(kinds: unknown, size: number): kinds is string {
  return typeof kinds === "string" && kinds.length === size && KINDS.test(kinds)
}

const PLACE = /^.+:\d{1,9}@.+$/s

/** The letters of a tree that does not say them, by the rules of files/hatchet/frames.py. */
function inferKinds(nodes: Nodes): string {
  const rowsOf = (metric: string): Set<number> => new Set(nodes.metrics.get(metric)?.rows ?? [])
  const times = rowsOf(TIME_NS)
  const cycles = rowsOf(CYCLES)
  const sampled = rowsOf(NUM_SAMPLES)
  const devices = nodes.labels.get(DEVICE_ID) ?? new Map<number, string>()
  const numbered = rowsOf(DEVICE_ID)
  const letters = nodes.names.map((name, row): string => {
    if ((devices.has(row) || numbered.has(row)) && times.has(row)) return "k"
    if (PLACE.test(name)) return "p"
    return name.startsWith("__proton_launch_metadata") ? "t" : "s"
  })
  for (const row of cycles) {
    const parent = nodes.parents[row] ?? -1
    if (parent > 0 && !cycles.has(parent)) letters[parent] = "k"
  }
  nodes.parents.forEach((parent, row) => {
    const isBelow = parent >= 0 && (letters[parent] === "k" || letters[parent] === "l")
    if (letters[row] === "p" && (isBelow || sampled.has(row))) letters[row] = "l"
  })
  letters[0] = "r"
  return letters.join("")
}

function readDetails(value: unknown, size: number, fail: (why: string) => never): Map<number, KernelDetail> {
  const details = new Map<number, KernelDetail>()
  if (value === undefined || value === null) return details
  if (!Array.isArray(value)) return fail("proton.kernels is not a list")
  const attributes: Plain[] = []
  for (const entry of value as unknown[]) {
    if (!Array.isArray(entry)) return fail("proton.kernels has an entry that is not a list")
    const [row, min, max, p50, p99, said] = entry as unknown[]
    if (typeof row !== "number" || !(row >= 0 && row < size)) return fail("proton.kernels names a node that is not there")
    const own = typeof said === "number" ? attributes[said] : isObject(said) ? said : {}
    attributes.push(own ?? {})
    details.set(row, {
      min: numberOf(min),
      max: numberOf(max),
      p50: numberOf(p50),
      p99: numberOf(p99),
      attributes: own ?? {},
    })
  }
  return details
}

function readMetricKinds(value: unknown): Record<string, MetricKind> {
  const kinds = emptyRecord<MetricKind>()
  if (!isObject(value)) return kinds
  for (const [metric, kind] of Object.entries(value)) {
    if (METRIC_KINDS.includes(kind as MetricKind)) kinds[metric] = kind as MetricKind
  }
  return kinds
}

function readHeader(said: Plain): Header {
  const phase = numberOf(said["phase"])
  return {
    session: textOf(said["session"]),
    context: textOf(said["context"]),
    data: textOf(said["data"]),
    backends: textsOf(said["backends"]),
    mode: textOf(said["mode"]),
    command: textsOf(said["command"]),
    host: textOf(said["host"]),
    pid: numberOf(said["pid"]),
    rank: numberOf(said["rank"]),
    version: textOf(said["version"]),
    python: textOf(said["python"]),
    triton: textOf(said["triton"]),
    startNs: numberOf(said["start_time_ns"]),
    endNs: numberOf(said["end_time_ns"]),
    phases: phase === null ? listOf(said["phases"]).filter((each): each is number => typeof each === "number") : [phase],
  }
}

function readDevices(value: unknown): Device[] {
  const devices: Device[] = []
  if (!isObject(value)) return devices
  for (const [type, byId] of Object.entries(value)) {
    if (!isObject(byId)) continue
    for (const [id, attributes] of Object.entries(byId)) {
      if (!isObject(attributes)) continue
      devices.push({
        type,
        id,
        arch: String(attributes["arch"] ?? ""),
        name: textOf(attributes["name"]) || null,
        attributes,
      })
    }
  }
  return devices
}

/** Without a prototype: names of a file may be `constructor` or `__proto__`. */
function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}

function isObject(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((each): each is string => typeof each === "string")
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null
}

function numbersOf(value: unknown): Record<string, number> {
  const numbers = emptyRecord<number>()
  if (!isObject(value)) return numbers
  for (const [key, each] of Object.entries(value)) if (typeof each === "number") numbers[key] = each
  return numbers
}
