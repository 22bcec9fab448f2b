/** How long the runs of a kernel took, where a trace has each of them: a histogram; a bar leads to its longest run. */
import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import { strongOf } from "../../draw/colors"
import { histogramOf } from "../../layout/histogram"
import { timelineOf } from "../../layout/timeline/spans"
import type { Profile } from "../../model"
import { isDark, selection } from "../../state"
import { count, inScale, text, timeScale } from "../../units"
import { hover, leave } from "./hover"

const BINS = 28
const [WIDTH, HEIGHT] = [276, 56] // of the picture's own units

/** The spans of contexts, with how long each took. */
function spansOf(of: Profile, rows: readonly number[]): { span: number; length: number }[] {
  const timeline = timelineOf(of)
  if (timeline === null) return []
  const wanted = new Set(rows)
  const isWanted = Array.from({ length: timeline.lookCount }, (_, look) => wanted.has(timeline.rowOfLook(look) ?? -1))
  const found: { span: number; length: number }[] = []
  for (let span = 0; span < timeline.starts.length; span++) {
    if (isWanted[timeline.look[span] as number]) found.push({ span, length: (timeline.ends[span] as number) - (timeline.starts[span] as number) })
  }
  return found
}

export function RunHistogram({ of, rows }: { of: Profile; rows: readonly number[] }): VNode | null {
  const spans = useMemo(() => spansOf(of, rows), [of, rows.join(" ")])
  const shown = useMemo(() => histogramOf(spans.map((each) => each.length), BINS), [spans])
  if (shown === null || shown.counts.length === 1) return null
  const { edges, counts } = shown
  const most = Math.max(...counts)
  const scale = timeScale(edges)
  const edge = (at: number): string => text(inScale(edges[at], scale))
  const words = (at: number): string => `${text(count(counts[at]))} ${counts[at] === 1 ? "run" : "runs"} from ${edge(at)} to ${edge(at + 1)}`
  const go = (at: number): void => {
    const last = at === counts.length - 1
    const inside = spans.filter(({ length }) => length >= (edges[at] as number) && (last || length < (edges[at + 1] as number)))
    const longest = inside.reduce((best, each) => (each.length > best.length ? each : best), { span: -1, length: -1 })
    if (longest.span >= 0) selection.value = { kind: "span", index: longest.span }
  }
  const width = WIDTH / counts.length
  return (
    <figure class="histogram">
      <figcaption class="quiet">
        {text(count(spans.length))} runs in the trace{shown.isLogarithmic ? ", logarithmic" : ""}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`how long ${spans.length} runs took: ${edge(0)} to ${edge(counts.length)}, most often ${words(counts.indexOf(most))}`} onMouseLeave={leave}>
        {counts.map((each, at) => (
          <g key={at} class="bin" onMouseMove={(event) => hover(event, <p>{words(at)}; a click selects the longest</p>)} onClick={() => go(at)}>
            <rect x={at * width} width={width} y={0} height={HEIGHT} fill="transparent" />
            <rect x={at * width + 0.5} width={width - 1} y={HEIGHT - barOf(each, most)} height={barOf(each, most)} fill={strongOf("kernel", isDark.value)} />
          </g>
        ))}
      </svg>
      <p class="ends quiet">
        <span>{edge(0)}</span> <span>{edge(counts.length)}</span>
      </p>
    </figure>
  )
}

/** As high as its share of the highest; what is not empty is seen. */
function barOf(each: number, most: number): number {
  return each === 0 ? 0 : Math.max(1.5, (HEIGHT * each) / most)
}
