/** How CTAs filled the device, where a recording has sums only: CTAs over time, multiprocessors by busy share. */
import type { VNode } from "preact"
import { strongOf } from "../draw/colors"
import type { Ctas } from "../parts/in_kernel"
import { isDark } from "../state"
import { percent, plain, text, time } from "../units"
import { hover, leave } from "./hover"
import { said } from "./said"

const HEIGHT = 64

export function CtaSummary({ of }: { of: Ctas }): VNode {
  return (
    <section class="figure-section" onMouseLeave={leave}>
      <div class="figure-head">
        <CtaTexts of={of.texts} />
        <span class="quiet">the last launch that was read</span>
      </div>
      <div class="cta-sums">
        {of.active.length > 0 ? <Active of={of} /> : null}
        {of.per_sm.length > 0 ? <Multiprocessors of={of} /> : null}
      </div>
    </section>
  )
}

/** What the terminal says of CTAs, with the page's signs. */
export function CtaTexts({ of }: { of: readonly string[] }): VNode {
  const words = of.map(said)
  return (
    <>
      <strong>CTAs</strong>
      {words.map((each) => <span key={each} class="quiet">{each}</span>)}
    </>
  )
}

/** CTAs that ran at once over the time of the launch; the tail is tinted. */
function Active({ of }: { of: Ctas }): VNode {
  const most = Math.max(...of.active)
  const length = of.first_start_ns === null || of.last_end_ns === null ? null : of.last_end_ns - of.first_start_ns
  const points = of.active.map((value, at) => `${at + 0.5},${HEIGHT - ((HEIGHT - 2) * value) / Math.max(most, 1e-9)}`)
  const tail = of.tail_ns === null || length === null || length <= 0 ? 0 : of.tail_ns / length
  const parts = of.active.length
  return (
    <figure>
      <svg viewBox={`0 0 ${parts} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label="CTAs that ran at once over time">
        {tail > 0 ? <rect x={parts * (1 - tail)} width={parts * tail} y={0} height={HEIGHT} class="tail" /> : null}
        <polygon points={`0,${HEIGHT} ${points.join(" ")} ${parts},${HEIGHT}`} fill={strongOf("kernel", isDark.value)} />
      </svg>
      <figcaption class="quiet">
        CTAs at once, up to {text(plain(most))}, over {text(time(length))}
        {tail > 0 ? "; the tail is tinted" : ""}
      </figcaption>
    </figure>
  )
}

/** A column for each multiprocessor, as high as it was busy. */
function Multiprocessors({ of }: { of: Ctas }): VNode {
  const idle = of.per_sm.filter((share) => share === null).length
  return (
    <figure>
      <div class="sm-columns" role="img" aria-label="busy shares of multiprocessors">
        {of.per_sm.map((share, sm) => (
          <span
            key={sm}
            onMouseMove={(event) => hover(event, <strong>SM {sm}: {share === null ? "ran nothing" : `busy ${text(percent(share))}`}</strong>)}
          >
            {share === null ? <i class="idle" /> : <i style={{ height: `${100 * share}%`, background: strongOf("kernel", isDark.value) }} />}
          </span>
        ))}
      </div>
      <figcaption class="quiet">
        one column a multiprocessor, as high as its busy share
        {idle > 0 ? `; ${idle} ran nothing (grey)` : ""}
      </figcaption>
    </figure>
  )
}
