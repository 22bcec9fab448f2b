/** How CTAs filled the device, where a recording has sums only: CTAs over time, multiprocessors by busy share. */
import type { VNode } from "preact"
import { strongOf } from "../../draw/colors"
import type { CtaFacts, LastCtas } from "../../schema"
import { isDark } from "../../state"
import { count, percent, plain, text, time } from "../../units"
import { hover, leave } from "../widgets/hover"

const HEIGHT = 64

export function CtaSummary({ of }: { of: LastCtas }): VNode {
  return (
    <section class="figure-section" onMouseLeave={leave}>
      <div class="figure-head">
        <CtaWords of={of.facts} />
        <span class="quiet">the last launch that was read</span>
      </div>
      <div class="cta-sums">
        {of.active.length > 0 ? <Active of={of} /> : null}
        {of.per_sm.length > 0 ? <Multiprocessors of={of} /> : null}
      </div>
    </section>
  )
}

/** How many CTAs ran where, how long they took, and how evenly. */
export function CtaWords({ of }: { of: CtaFacts }): VNode {
  const { busy, waves } = of
  const filled = waves === null ? "" : `, ${waves.toFixed(2)} wave${waves === 1 ? "" : "s"}`
  return (
    <>
      <strong>CTAs</strong>
      <span class="quiet">{text(count(of.count))} on {text(count(of.sms))} multiprocessors{filled}</span>
      <span class="quiet">{timesText(of)}</span>
      {busy === null ? null : (
        <span class="quiet">
          multiprocessors busy {whole(busy.mean)} on average, median {whole(busy.median)}, least {whole(busy.least)}
          {busy.mean > 0 ? `, the busiest ${(busy.largest / busy.mean).toFixed(2)} times the mean` : ""}
        </span>
      )}
    </>
  )
}

function timesText({ length_ns, p50_ns, p99_ns, tail_ns }: CtaFacts): string {
  const facts = [
    length_ns === null ? "" : `${text(time(length_ns))} from first start to last end`,
    p50_ns === null ? "" : `a CTA p50 ${text(time(p50_ns))}${p99_ns === null ? "" : `, p99 ${text(time(p99_ns))}`}`,
    tail_ns === null ? "" : `tail ${text(time(tail_ns))}${length_ns ? ` (${whole(tail_ns / length_ns)})` : ""}`,
  ]
  return facts.filter((fact) => fact !== "").join(" · ")
}

/** A share in whole percent. */
function whole(share: number): string {
  return `${Math.round(100 * share)}\u00a0%`
}

/** CTAs that ran at once over the time of the launch; the tail is tinted. */
function Active({ of }: { of: LastCtas }): VNode {
  const most = Math.max(...of.active)
  const { length_ns: length, tail_ns } = of.facts
  const points = of.active.map((value, at) => `${at + 0.5},${HEIGHT - ((HEIGHT - 2) * value) / Math.max(most, 1e-9)}`)
  const tail = tail_ns === null || length === null || length <= 0 ? 0 : tail_ns / length
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
function Multiprocessors({ of }: { of: LastCtas }): VNode {
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
