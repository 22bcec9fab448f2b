/** Source: the file of a kernel, a bar per line by what warps waited for, instructions beside it. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { fileSum, filesOf, kernelSum, linesOf, regionsOf, unplacedSum } from "../../layout/source"
import { cutMiddle, printable } from "../../names"
import type { SamplingFacts, SourcePart } from "../../schema"
import { selectedKernel, selectedRow, view } from "../../state"
import { count, percent, text, time } from "../../units"
import { Fact } from "../widgets/facts"
import type { View } from "../widgets/view"
import { Listing } from "./listing"
import { MOST_KERNELS, NoLines, Why, hasCode } from "./no_lines"
import { Sass } from "./sass"
import { choice, choose, kernel, part, place, showKernel, stepInstruction } from "./source_state"
import "./source.css"

export const source: View = {
  id: "source",
  title: "Source",
  key: "6",
  isPresent: (_page, shown) => shown.parts.sampled !== null,
  Component: Source,
  Details,
  onKey,
  keys: [
    ["j k", "go to the next line with samples or a region, or the one before"],
    ["n p", "go to the next instruction, or the one before"],
    ["i", "show instructions, or hide them"],
  ],
}

function Source(): VNode | null {
  const samples = part.value
  const [focus, setFocus] = useState<number | null>(null)
  if (samples === null) return null
  const shown = place.value
  const hasSass = choice.value.sass && samples.sampling !== null
  return (
    <div class="source-view">
      <Tools of={samples} />
      <Remarks of={samples} />
      {shown === null ? (
        <NoLines of={samples} focus={focus} onFocus={setFocus} />
      ) : (
        <>
          {samples.sampling === null ? null : <Why of={samples} sum={fileSum(samples, shown.file, kernel.value)} focus={focus} onFocus={setFocus} />}
          <div class={hasSass ? "source-body with-sass" : "source-body"}>
            <Listing key={`${shown.file} ${kernel.value}`} of={samples} file={shown.file} focus={focus} />
            {hasSass ? <Sass of={samples} /> : null}
          </div>
        </>
      )}
    </div>
  )
}

/** The end of a path: its folder and its name. */
function shortPath(path: string): string {
  const parts = printable(path).split("/")
  return cutMiddle(parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : parts.join("/"), 60)
}

function Tools({ of }: { of: SourcePart }): VNode {
  const files = filesOf(of, kernel.value)
  const groups: [string, typeof files][] = [
    ["written by you", files.filter(({ file }) => of.files[file]?.is_user === true)],
    ["inlined", files.filter(({ file }) => of.files[file]?.is_user !== true)],
  ]
  const all = of.kernels.reduce((sum, each) => sum + each.samples, 0)
  return (
    <div class="tools">
      {of.sampling === null ? null : <label>
        kernel{" "}
        <select
          aria-label="kernel"
          value={kernel.value === null ? "" : String(kernel.value)}
          onChange={(event) => showKernel(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
        >
          <option value="">all kernels – {text(count(all))}</option>
          {of.kernels.slice(0, MOST_KERNELS).map((each, at) => (
            <option key={at} value={String(at)}>
              {cutMiddle(each.title, 60)} – {text(count(each.samples))}
            </option>
          ))}
        </select>
      </label>}
      {files.length === 0 ? null : <label>
        file{" "}
        <select
          aria-label="file"
          value={String(place.value?.file ?? "")}
          onChange={(event) => choose({ file: Number(event.currentTarget.value), line: null, at: null }, true)}
        >
          {groups.map(([title, members]) =>
            members.length === 0 ? null : (
              <optgroup key={title} label={title}>
                {members.slice(0, MOST_KERNELS).map(({ file, samples }) => (
                  <option key={file} value={String(file)}>
                    {shortPath(of.files[file]?.path ?? "")}{of.sampling === null ? "" : ` – ${text(count(samples))}`}
                  </option>
                ))}
              </optgroup>
            ),
          )}
        </select>
      </label>}
      {files.length === 0 || of.sampling === null ? null : (
        <button class="toggle" aria-pressed={choice.value.sass} title="instructions beside the text (i)" onClick={toggleSass}>
          SASS
        </button>
      )}
      <span class="gap" />
      <Counted of={of} />
    </div>
  )
}

/** How many samples the file has, and how many have no line. */
function Counted({ of }: { of: SourcePart }): VNode | null {
  if (place.value === null) return null
  if (of.sampling === null) return <span class="quiet">regions of kernels beside their lines; nothing was sampled</span>
  const sum = fileSum(of, place.value.file, kernel.value)
  const lost = unplacedSum(of, kernel.value)
  const more = lost.samples > 0 ? `, ${text(count(lost.samples))} without a known line` : ""
  return <span class="quiet">{text(count(sum.samples))} samples in this file{more}</span>
}

/** What to know of the samples, the kernel and the file; problems in red. */
function Remarks({ of }: { of: SourcePart }): VNode {
  const file = place.value === null ? undefined : of.files[place.value.file]
  const chosen = kernel.value === null ? undefined : of.kernels[kernel.value]
  const [taken, lost] = of.sampling === null ? ["", ""] : [takenText(of.sampling), lostText(of.sampling)]
  return (
    <>
      {taken === "" ? null : <p class="quiet remark" title={taken}>{cutMiddle(taken, 400)}</p>}
      {lost === "" ? null : <p class="beware remark" title={lost}>{lost}</p>}
      {chosen === undefined || chosen.remark === "" ? null : <p class="quiet remark" title={chosen.remark}>{chosen.remark}</p>}
      {file === undefined || file.remark === "" ? null : <p class="beware remark" title={cutMiddle(file.remark, 1000)}>! {cutMiddle(file.remark, 300)}</p>}
      {file?.state === "not checked" ? <p class="quiet remark">the recording does not say what this file was then: lines may have moved since</p> : null}
    </>
  )
}

/** How samples were taken, and that nothing was lost where nothing was. */
function takenText(of: SamplingFacts): string {
  const samples = `${text(count(of.samples))} sample${of.samples === 1 ? "" : "s"}`
  if (of.dropped === null) return `${samples}; the file does not say how often`
  const every = of.period_cycles === null ? "" : `, one every ${text(count(of.period_cycles))} cycles of a multiprocessor`
  const window = of.window_ns === null || of.every_ns === null ? "" : `, for ${text(time(of.window_ns))} of every ${text(time(of.every_ns))}`
  const facts = [
    samples + every + window,
    of.dropped > 0 ? "" : "0 dropped",
    of.non_user === null ? "" : `${text(count(of.non_user))} outside the program's kernels`,
    of.overflows ? "" : "0 buffer overflows",
    of.left_out > 0 ? `${text(count(of.left_out))} left out by include` : "",
    of.is_divided ? "samples of a kernel that several contexts launched are divided among them by its time in each" : "",
  ]
  return facts.filter((fact) => fact !== "").join(" · ")
}

function lostText({ dropped, overflows }: SamplingFacts): string {
  if (!dropped && !overflows) return ""
  return `! ${text(count(dropped ?? 0))} samples dropped, hardware buffer full ${text(count(overflows ?? 0))} times: take a longer interval or a larger buffer`
}

/** What the selected kernel waits for most. */
function Details(): VNode | null {
  const [samples, at] = [part.value, kernel.value]
  const chosen = at === null ? undefined : samples?.kernels[at]
  if (samples === null || at === null || chosen === undefined || selectedKernel.value === null) return null
  const sum = kernelSum(samples, at)
  const row = selectedRow.value // of one context the reasons stand above
  return (
    <section>
      <h3>sampled</h3>
      <dl>
        <Fact name="samples" of={count(chosen.samples)} />
        {row === null
          ? sum.reasons.slice(0, 3).map(([reason, found]) => (
              <Fact key={reason} name={printable(samples.reasons[reason]?.[0] ?? "")} of={percent(found / Math.max(sum.samples, 1))} />
            ))
          : null}
      </dl>
      {view.value === "source" ? null : (
        <button class="link" onClick={() => (view.value = "source")}>
          {hasCode(samples, at) ? "lines and instructions" : filesOf(samples, at).length > 0 ? "lines" : "what it waited for"}
        </button>
      )}
    </section>
  )
}

function toggleSass(): void {
  choose({ sass: !choice.value.sass })
}

function onKey(event: KeyboardEvent): boolean {
  if (event.key === "i") {
    toggleSass()
    return true
  }
  if (event.key === "n" || event.key === "p") {
    stepInstruction(event.key === "n" ? 1 : -1)
    return true
  }
  const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0
  if (step === 0) return false
  stepLine(step)
  return true
}

/** To the next line with samples or a region, in the order of the file. */
function stepLine(step: number): void {
  const [samples, shown] = [part.value, place.value]
  if (samples === null || shown === null) return
  const lines = [...new Set([...linesOf(samples, shown.file, kernel.value).keys(), ...regionsOf(samples, shown.file).keys()])].sort((a, b) => a - b)
  const line = shown.line
  const next = line === null ? lines[0] : step > 0 ? lines.find((each) => each > line) : lines.findLast((each) => each < line)
  if (next !== undefined) choose({ file: shown.file, line: next, at: null })
}
