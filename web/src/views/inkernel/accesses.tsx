/** The places of a kernel that read and write memory, those with the most bytes first. */
import type { VNode } from "preact"
import { strongOf } from "../../draw/colors"
import { cutMiddle, printable } from "../../names"
import type { KernelRecords } from "../../schema"
import { isDark } from "../../state"
import { MISSING, amount, count } from "../../units"
import { Num } from "../widgets/number"
import { Place, Share } from "./regions"

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
