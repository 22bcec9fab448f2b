/** The line above a timeline: shares of the whole, and idle time of devices by cause in the window. */
import type { VNode } from "preact"
import { causeColor } from "../../draw/timeline/colors"
import type { Chart } from "../../layout/timeline/chart"
import type { Range } from "../../layout/axis"
import { percent, text, time } from "../../units"
import { causeText } from "./texts"

/** Figures of the whole, and idle time by cause in the window. */
export function Legend({ chart, dark, range }: { chart: Chart; dark: boolean; range: Range | null }): VNode | null {
  const { part } = chart.timeline
  const devices = chart.timeline.gaps.filter((gaps) => gaps.lane === null)
  const sums = part.gaps.causes.map(() => 0)
  for (const gaps of devices) {
    const found = range === null ? gaps.sumsNs : chart.gaps(gaps.group)?.inWindow(range[0], range[1])
    found?.forEach((each, cause) => (sums[cause] = (sums[cause] ?? 0) + each))
  }
  const occurring = part.gaps.causes.map((_, cause) => cause).filter((cause) => chart.timeline.gaps.some((gaps) => (gaps.sumsNs[cause] ?? 0) > 0))
  const { shares } = part
  if (shares === null && occurring.length === 0 && part.args_left_out === 0) return null
  return (
    <div class="timeline-legend">
      {shares === null ? null : (
        <span class="timeline-shares" title="shares of the time from the first to the last span of the trace; busy: at least one stream of a device had work">
          <b>{text(time(shares.wall_ns))}</b> wall, of it <b>{text(percent(shares.busy))}</b> busy
          {shares.overlap >= 0.0005 ? (
            <>
              {" "}
              · <b>{text(percent(shares.overlap))}</b> overlapped
            </>
          ) : null}
          {shares.launch_bound === null ? null : (
            <>
              {" "}
              · <b>{text(percent(shares.launch_bound))}</b> launch-bound
            </>
          )}
        </span>
      )}
      {occurring.length === 0 ? null : <span class="quiet" title="time in which no stream of a device had work, in the part that is shown">device idle in view:</span>}
      {occurring.map((cause) => {
        const name = part.gaps.causes[cause] ?? ""
        return (
          <span key={cause} title={causeText(name)} class="timeline-cause">
            <i class="swatch" style={{ background: causeColor(cause, dark) }} />
            {name} {devices.some((gaps) => (gaps.sumsNs[cause] ?? 0) > 0) ? <b>{(sums[cause] ?? 0) > 0 ? text(time(sums[cause])) : "0"}</b> : null}
          </span>
        )
      })}
      {part.args_left_out > 0 ? <span class="quiet">arguments of {part.args_left_out} kinds of spans left out</span> : null}
    </div>
  )
}
