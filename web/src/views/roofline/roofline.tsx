/** The roofline: what the hardware allows, one dot for each kernel, and what could be saved. */
import type { VNode } from "preact"
import { hueOfKind, strongOf } from "../../draw/colors"
import type { Profile } from "../../model"
import { cutMiddle, printable } from "../../names"
import type { RoofDot, RooflinePart } from "../../schema"
import { fittingNames, isDark, profile, setZoom, zoom } from "../../state"
import { MISSING, text, time } from "../../units"
import { type NumberColumn, PLAIN, SHARE, TIME, type TableColumn, amounts, numberColumn, wordColumn } from "../widgets/columns"
import { Choice } from "../widgets/facts"
import { kernelColumn } from "../widgets/label"
import { Table } from "../widgets/table"
import { Tuning } from "../widgets/tuning"
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
  hits: (_page, shown) => [fittingNames(shown, (shown.parts.roofline?.dots ?? []).map((dot) => dot.name)).length, "kernels"],
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
      <Tuning of={shown} />
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
  const color = (dot: RoofDot): string => strongOf(hueOfKind(dot.kind), isDark.value)
  const number = (spec: NumberColumn<RoofDot>): TableColumn<RoofDot> => numberColumn(dots, spec)
  return [
    kernelColumn(of, (dot) => dot),
    number({
      id: "save",
      title: "could save",
      hint: "time above the roof: what could be saved at best",
      width: 136,
      as: TIME,
      of: (dot) => dot.headroom_ns,
      bar: { share: (dot) => (most > 0 && dot.headroom_ns !== null ? dot.headroom_ns / most : null), color },
    }),
    number({ id: "time", title: "time", width: 86, as: TIME, of: (dot) => dot.time_ns }),
    number({ id: "least", title: "least", hint: "the least time that the hardware allows", width: 86, as: TIME, of: (dot) => dot.least_ns }),
    number({ id: "peak", title: "of peak", width: 76, as: SHARE, of: (dot) => dot.share_of_peak, least: (dot) => dot.remark || undefined }),
    wordColumn({ id: "bound", title: "bound by", width: 76, of: (dot) => dot.bound ?? MISSING, key: (dot) => dot.bound }),
    number({ id: "flops", title: "FLOP/s", width: 106, as: amounts("FLOP/s"), of: (dot) => dot.flops_per_s }),
    number({ id: "bytes", title: "B/s", width: 92, as: amounts("B/s"), of: (dot) => dot.bytes_per_s }),
    number({ id: "intensity", title: "FLOP/B", width: 92, as: PLAIN, of: (dot) => dot.intensity }),
  ]
}
