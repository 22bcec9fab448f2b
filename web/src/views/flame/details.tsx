/** What the pane on the right tells of contexts that are shown as one, and the way from a kernel to its callers. */
import type { VNode } from "preact"
import { cutMiddle, printable } from "../../names"
import { groupsOf, metric, profile, selectedKernel, selectedRows, selection, view } from "../../state"
import { metricQuantity, plainName } from "../../units"
import { Fact, shortName } from "../widgets/facts"
import { SpreadFacts, StepChart, groupPath } from "../widgets/steps"
import { flames, showSandwich } from "./flame_state"

export function FlameDetails(): VNode {
  return (
    <>
      <GroupDetails />
      <ToSandwich />
    </>
  )
}

function ToSandwich(): VNode | null {
  const drawn = flames.value
  const kernel = selectedKernel.value
  const row = drawn === null || kernel === null ? 0 : (drawn.of.rowsOfKernel(kernel)[0] ?? 0)
  if (row === 0 || view.value === "flame") return null
  const go = (): void => {
    view.value = "flame"
    showSandwich(row)
  }
  return (
    <p>
      <button class="link" title="a sandwich: what called it, over all its contexts" onClick={go}>
        callers in the flame graph
      </button>
    </p>
  )
}

/** About the selected contexts together; nothing where the selection is none of these. */
function GroupDetails(): VNode | null {
  const [of, chosen, rows] = [profile.value, selection.value, selectedRows.value]
  const folds = of === null ? null : groupsOf(of)
  if (of === null || folds === null || rows === null || chosen?.kind !== "group") return null
  const name = metric.value
  if (of.metricKind(name) === "property") return null
  const values = of.metricKind(name) === "inclusive" ? of.totals(name) : of.own(name)
  const sum = folds.sums(values)[chosen.group] as number
  const whole = of.value(name, 0)
  const first = rows[0] as number
  const title = folds.title(chosen.group) ?? shortName(of, first)
  return (
    <section>
      {of.isWork(first) ? <h3>in {groupPath(of, folds, chosen.group, 160)}</h3> : <h2>{cutMiddle(printable(title), 160)}</h2>}
      {of.isWork(first) ? null : <p class="path">{groupPath(of, folds, chosen.group, 400)}</p>}
      <dl>
        <Fact name={cutMiddle(printable(plainName(name)), 40)} of={metricQuantity(name, sum)} share={whole > 0 ? sum / whole : null} />
        <SpreadFacts of={of} rows={rows} values={values} />
      </dl>
      <StepChart of={of} rows={rows} values={values} title={title} isAlone={false} />
    </section>
  )
}
