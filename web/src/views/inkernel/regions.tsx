/** Tables of one kernel: its regions, the values it recorded, its accesses to memory. */
import type { VNode } from "preact"
import { colorOfRegion, strongOf } from "../../draw/colors"
import { baseName, cutMiddle, printable } from "../../names"
import type { KernelRecords, RegionRow } from "../../schema"
import { isDark, profile, view } from "../../state"
import { MISSING, type Quantity, amount, count, percent, plain, time } from "../../units"
import { choose } from "../source/source_state"
import { Num } from "../widgets/facts"

const ROOM = 110 // pixels of a spread

export function Regions({ of }: { of: KernelRecords }): VNode {
  const known = of.regions.filter((each) => each.min !== null && each.max !== null && (each.min ?? 0) > 0)
  const least = Math.min(...known.map((each) => each.min as number))
  const most = Math.max(...known.map((each) => each.max as number))
  const hasSpread = known.length > 0 && most > least
  return (
    <section>
      <h3>regions</h3>
      <div class="wide">
        <table class="regions">
          <thead>
            <tr>
              <th class="name">region</th>
              <th class="left">line</th>
              <th title="how often warps went through it">passages</th>
              <th title="of all warps">cycles</th>
              <th class="left" title="of the outermost regions">share</th>
              <th title="of one passage in cycles, over warps">p10</th>
              <th title="of one passage in cycles, over warps">p50</th>
              <th title="of one passage in cycles, over warps">p90</th>
              {hasSpread ? <th class="left" title="shortest, p10, p50, p90 and longest passage, on a logarithmic scale">spread</th> : null}
              <th title="of one passage">average</th>
            </tr>
          </thead>
          <tbody>
            {of.regions.map((region, at) => (
              <tr key={at}>
                <td class="name" title={cutMiddle(region.name, 1000)} style={{ paddingLeft: `${8 + 16 * region.depth}px` }}>
                  <span class="swatch" style={{ background: colorOfRegion(at, isDark.value) }} />
                  {cutMiddle(region.name, 60)}{" "}
                  <span class="quiet kind">{cutMiddle(printable(region.kind), 20)}</span>
                  {region.every ? <span class="quiet"> {region.every}</span> : null}
                </td>
                <td class="left"><Place file={region.file} line={region.line} /></td>
                <td><Num of={count(region.count)} /></td>
                <td><Num of={amount(region.cycles, "")} /></td>
                <td class="left"><Share share={region.share} color={colorOfRegion(at, isDark.value)} /></td>
                <td><Cycles of={region.p10} error={of.error_cycles} /></td>
                <td><Cycles of={region.p50} error={of.error_cycles} /></td>
                <td><Cycles of={region.p90} error={of.error_cycles} /></td>
                {hasSpread ? <td class="left"><Spread of={region} least={least} most={most} /></td> : null}
                <td><Num of={time(region.mean_ns)} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {of.region_notes.map((note) => <p key={note} class="quiet note">{note}</p>)}
    </section>
  )
}

/** A number of cycles; marked where it may be off by more than a tenth. */
function Cycles({ of, error }: { of: number | null; error: number | null }): VNode {
  const isRough = of !== null && error !== null && error > 0.1 * of && of > 0
  const shown: Quantity = of === null ? plain(null) : of >= 1000 ? count(Math.round(of)) : plain(of)
  return <Num of={shown} {...(isRough ? { mark: `may be off by ${error} cycles` } : {})} />
}

function Share({ share, color }: { share: number | null; color: string }): VNode {
  return (
    <span class="share">
      <span class="track">
        {share === null ? null : <span class="filled" style={{ width: `${100 * Math.min(share, 1)}%`, background: color }} />}
      </span>
      <Num of={percent(share)} />
    </span>
  )
}

/** Shortest to longest as a line, p10 to p90 as a box, p50 as a mark. */
function Spread({ of, least, most }: { of: RegionRow; least: number; most: number }): VNode | null {
  const { min, p10, p50, p90, max } = of
  if (min === null || max === null || min <= 0) return null
  const xOf = (value: number): number => (ROOM * Math.log(value / least)) / Math.log(most / least)
  return (
    <svg class="spread" width={ROOM} height={12} role="img" aria-label={`from ${min} to ${max} cycles`}>
      <line x1={xOf(min)} x2={xOf(max)} y1={6} y2={6} class="reach" />
      {p10 === null || p90 === null ? null : (
        <rect x={xOf(p10)} width={Math.max(xOf(p90) - xOf(p10), 1.5)} y={2} height={8} class="most" />
      )}
      {p50 === null ? null : <rect x={xOf(p50) - 1} width={2} y={1} height={10} class="middle" />}
    </svg>
  )
}

/** A place in the source; where the page has its samples, a way there. */
export function Place({ file, line }: { file: string; line: number }): VNode {
  const name = cutMiddle(printable(baseName(file)), 40)
  const words = line === 0 ? name || "–" : `${name}:${line}`
  const samples = profile.value?.parts.sampled ?? null
  const at = samples?.files.findIndex((each) => each.path === file) ?? -1
  if (at < 0 || line === 0) return <span title={cutMiddle(printable(file), 1000)}>{words}</span>
  const go = (): void => {
    choose({ file: at, line })
    view.value = "source"
  }
  return <button class="link" title={cutMiddle(printable(file), 1000)} onClick={go}>{words}</button>
}

/** Numbers that a kernel recorded itself. */
export function Values({ of }: { of: KernelRecords }): VNode {
  const isOdd = of.values.some((value) => value.not_finite > 0) // of integers none is
  return (
    <section>
      <h3>values</h3>
      <table class="regions values">
        <thead>
          <tr>
            <th class="name">value</th><th>count</th>
            {isOdd ? <th title="NaN and infinities, which mean, min and max leave out">not finite</th> : null}
            <th>mean</th><th>min</th><th>max</th>
          </tr>
        </thead>
        <tbody>
          {of.values.map((value, at) => (
            <tr key={at}>
              <td class="name value-name">{cutMiddle(value.name, 80)}</td>
              <td><Num of={count(value.count)} /></td>
              {isOdd ? <td><Num of={count(value.not_finite)} /></td> : null}
              <td><Num of={plain(value.mean)} /></td>
              <td><Num of={plain(value.min)} /></td>
              <td><Num of={plain(value.max)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const MOST = 200

export function Accesses({ of }: { of: KernelRecords }): VNode {
  const more = of.accesses.length - MOST
  return (
    <section>
      <h3>memory accesses</h3>
      <div class="wide">
        <table class="regions">
          <thead>
            <tr>
              <th class="name">access</th>
              <th class="left">line</th>
              <th class="left">kind</th>
              <th class="left">tensor</th>
              <th title="of lanes">accesses</th>
              <th>bytes</th>
              <th class="left">share</th>
            </tr>
          </thead>
          <tbody>
            {of.accesses.slice(0, MOST).map((site, at) => (
              <tr key={at}>
                <td class="name">{cutMiddle(site.name, 60)}</td>
                <td class="left"><Place file={site.file} line={site.line} /></td>
                <td class="left">{cutMiddle(printable(site.kind), 20) || MISSING}</td>
                <td class="left">{cutMiddle(printable(site.tensor), 40) || MISSING}</td>
                <td><Num of={count(site.accesses)} /></td>
                <td><Num of={amount(site.bytes, "B")} /></td>
                <td class="left"><Share share={site.share} color={strongOf("copy", isDark.value)} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 ? <p class="quiet note">{more} smaller accesses are not listed</p> : null}
      {of.access_notes.map((note) => <p key={note} class="quiet note">{cutMiddle(note, 600)}</p>)}
    </section>
  )
}
