/** What is shown of kernels of which no line is known: why they waited, and their instructions. */
import type { VNode } from "preact"
import { type Sum, kernelSum, kernelSums } from "../../layout/source"
import { cutMiddle } from "../../names"
import type { SourcePart } from "../../schema"
import { count, percent, text } from "../../units"
import { Num } from "../widgets/facts"
import { hover, leave } from "../widgets/hover"
import { ReasonBar, ReasonLegend, ReasonWords } from "./reasons"
import { Sass } from "./sass"
import { kernel, showKernel } from "./source_state"

/** Kernels of a list, and options of a choice. */
export const MOST_KERNELS = 500

interface WhyProps {
  of: SourcePart
  focus: number | null
  onFocus(reason: number | null): void
}

/** Why warps waited. */
export function Why({ of, sum, focus, onFocus }: WhyProps & { sum: Sum }): VNode {
  return (
    <div class="why">
      <ReasonBar part={of} sum={sum} share={1} focus={focus} />
      <ReasonLegend part={of} sum={sum} focus={focus} onFocus={onFocus} />
    </div>
  )
}

/** A kernel of which no line is known still waited for something. */
export function NoLines({ of, focus, onFocus }: WhyProps): VNode {
  const sum = kernelSum(of, kernel.value)
  return (
    <>
      <Why of={of} sum={sum} focus={focus} onFocus={onFocus} />
      <p class="quiet">
        {text(count(sum.samples))} samples without a known source line
        {kernel.value === null ? choiceText(of) : ""}
      </p>
      {kernel.value === null ? <Kernels of={of} focus={focus} /> : hasCode(of, kernel.value) ? <Sass of={of} /> : <NoCode />}
    </>
  )
}

export function hasCode(of: SourcePart, at: number): boolean {
  return (of.kernels[at]?.codes.length ?? 0) > 0
}

const RECORD = "Proton's own sampling keeps them: record with proton -m pcsampling"

/** What a choice of a kernel would show; nothing is promised that was not recorded. */
function choiceText(of: SourcePart): string {
  const known = of.kernels.filter((_, at) => hasCode(of, at)).length
  if (known === 0) return `; the file has no instructions either. ${RECORD}`
  return known === of.kernels.length ? "; choose a kernel for its instructions" : `; choose a kernel: the file has instructions of ${known} of ${of.kernels.length}`
}

/** In place of instructions that the file does not have. */
function NoCode(): VNode {
  return (
    <p class="quiet">
      The file has no instructions of this kernel. {RECORD}.{" "}
      <button class="link" onClick={() => showKernel(null)}>all kernels</button>
    </p>
  )
}

/** Kernels by samples, where there are no lines to show; a click chooses one. */
function Kernels({ of, focus }: { of: SourcePart; focus: number | null }): VNode {
  const sums = kernelSums(of)
  const most = Math.max(1, ...sums.map((each) => each.samples))
  const all = Math.max(1, sums.reduce((sum, each) => sum + each.samples, 0))
  const isMixed = of.kernels.some((_, at) => hasCode(of, at))
  return (
    <div class="listing sampled-kernels">
      {of.kernels.slice(0, MOST_KERNELS).map((each, at) => {
        const sum = sums[at] as Sum
        return (
          <button
            key={at}
            class="src"
            onClick={() => showKernel(at)}
            onMouseMove={(event) => hover(event, <ReasonWords part={of} sum={sum} />)}
            onMouseLeave={leave}
          >
            <span class="count">{text(count(sum.samples))}</span>
            <span class="count"><Num of={percent(sum.samples / all)} /></span>
            <ReasonBar part={of} sum={sum} share={sum.samples / most} focus={focus} />
            <span class="kernel-name">{cutMiddle(each.title, 100)} <span class="quiet">{[cutMiddle(each.remark.split(":", 1)[0] ?? "", 40), isMixed && !hasCode(of, at) ? "no instructions" : ""].filter((word) => word !== "").join(", ")}</span></span>
          </button>
        )
      })}
    </div>
  )
}
