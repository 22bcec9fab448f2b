/** The roofline: what the hardware allows, one dot for each kernel, and what could be saved. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { RoofDot, RooflinePart } from "../../schema"
import { isDark, profile, setZoom, zoom } from "../../state"
import { amount, percent, plain, text, time } from "../../units"
import { BarCell, Choice, KernelName, Num } from "../widgets/facts"
import { Table, type TableColumn, lettersIn } from "../widgets/table"
import type { View } from "../widgets/view"
import { RooflinePlot, isSelected, select } from "./plot"
import "./roofline.css"

const ID = "roofline"
const MOST_DOTS = 3000
const MOST_TO_SAVE = "-save"

export const roofline: View = {
  id: ID,
  title: "Roofline",
  key: "5",
  isPresent: (_page, shown) => shown.parts.roofline !== null,
  Component: Roofline,
}

/** `<device>.<sort>` in the address. */
function stateOf(part: RooflinePart): { device: number; sort: string } {
  const [device, sort] = (zoom.value[ID] ?? "").split(".")
  const fallback = part.dots.find((dot) => dot.device !== null)?.device ?? 0
  const asked = /^\d+$/.test(device ?? "") ? Number(device) : fallback
  return { device: asked < part.devices.length ? asked : fallback, sort: sort || MOST_TO_SAVE }
}

function dotsOf(part: RooflinePart, device: number): RoofDot[] {
  return part.dots.filter((dot) => dot.device === device || (dot.device === null && part.devices.length <= 1))
}

function Roofline(): VNode | null {
  const shown = profile.value
  const part = shown === null ? null : shown.parts.roofline
  if (shown === null || part === null) return null
  const { device: at, sort } = stateOf(part)
  const device = part.devices[at] ?? { name: "unknown device", id: "", multiprocessors: null, clock_mhz: null, bytes_per_s: null, roofs: [] }
  const dots = dotsOf(part, at)
  const drawn = dots.slice(0, MOST_DOTS)
  const known = dots.filter((dot) => dot.headroom_ns !== null)
  const toSave = known.reduce((sum, dot) => sum + Math.max(dot.headroom_ns ?? 0, 0), 0)
  return (
    <div class="roofline-view">
      <div class="toolbar">
        {part.devices.length > 1 ? (
          <Choice
            label="device"
            options={part.devices.map((each, index) => ({ id: String(index), title: cutMiddle(printable(`${each.name} ${each.id}`), 32) }))}
            value={String(at)}
            onPick={(id) => setZoom(ID, `${id}.${sort}`)}
          />
        ) : (
          <strong>{cutMiddle(printable(device.name), 48)}</strong>
        )}
        {device.roofs.length === 0 ? <span class="quiet">its peak rates are not known, so there are no roofs</span> : null}
        <span class="gap" />
        {known.length === 0 ? null : (
          <span title="time above the roof, of the kernels that declare their work">
            <strong>{text(time(toSave))}</strong> could be saved at best
          </span>
        )}
      </div>
      <RooflinePlot of={shown} device={device} dots={drawn} />
      {drawn.length < dots.length ? <p class="quiet">{dots.length - drawn.length} more are in the table only</p> : null}
      <Table
        label="what could be saved"
        columns={columnsOf(shown, dots)}
        rows={dots}
        idOf={(dot) => `${dot.device} ${dot.name}`}
        isSelected={(dot) => isSelected(shown, dot)}
        onSelect={(dot) => select(dot)}
        sort={sort}
        onSort={(next) => setZoom(ID, `${at}.${next}`)}
      />
    </div>
  )
}

function columnsOf(of: Profile, dots: readonly RoofDot[]): TableColumn<RoofDot>[] {
  const most = dots.reduce((largest, dot) => Math.max(largest, dot.headroom_ns ?? 0), 0)
  const colorOf = (dot: RoofDot): string => strongOf(hueOfKind(dot.kind), isDark.value)
  return [
    {
      id: "name",
      title: "kernel",
      isText: true,
      key: (dot) => of.shown(dot.name).toLowerCase(),
      cell: (dot, room) => <KernelName of={of} name={dot.name} kind={dot.kind} letters={lettersIn(room)} />,
    },
    {
      id: "save",
      title: "could save",
      hint: "time above the roof: what could be saved at best",
      width: 130,
      key: (dot) => dot.headroom_ns,
      cell: (dot) => <BarCell share={most > 0 && dot.headroom_ns !== null ? dot.headroom_ns / most : null} color={colorOf(dot)} of={time(dot.headroom_ns)} />,
    },
    { id: "time", title: "time", width: 86, key: (dot) => dot.time_ns, cell: (dot) => <Num of={time(dot.time_ns)} /> },
    { id: "least", title: "least", hint: "the least time that the hardware allows", width: 86, key: (dot) => dot.least_ns, cell: (dot) => <Num of={time(dot.least_ns)} /> },
    { id: "peak", title: "of peak", width: 76, unit: 1.2, key: (dot) => dot.share_of_peak, cell: (dot) => <Num of={percent(dot.share_of_peak)} /> },
    { id: "bound", title: "bound by", width: 76, isText: true, key: (dot) => dot.bound, cell: (dot) => dot.bound ?? "–" },
    { id: "flops", title: "FLOP/s", width: 106, unit: 7, key: (dot) => dot.flops_per_s, cell: (dot) => <Num of={amount(dot.flops_per_s, "FLOP/s")} /> },
    { id: "bytes", title: "B/s", width: 92, unit: 4.2, key: (dot) => dot.bytes_per_s, cell: (dot) => <Num of={amount(dot.bytes_per_s, "B/s")} /> },
    { id: "intensity", title: "FLOP/B", width: 74, unit: 0, key: (dot) => dot.intensity, cell: (dot) => <Num of={plain(dot.intensity)} /> },
  ]
}
