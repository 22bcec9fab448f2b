/** What is seen of a time axis, in step with the address. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { type Range, rangeIn } from "../../layout/axis"
import { rangeText } from "./inkernel_state"

const REST_MS = 250

/** The range that a picture shows, and what changes it.
 *
 * The address says `told`, null for `whole`; once the picture rests it is told what is seen. An address that is
 * opened meanwhile is followed.
 */
export function useAddressRange(whole: Range, told: Range | null, tell: (range: Range | null) => void): [Range, (range: Range) => void] {
  const [range, setRange] = useState<Range>(() => rangeIn(told, whole))
  const known = useRef(rangeText(told))
  useLayoutEffect(() => {
    if (rangeText(told) === known.current) return
    known.current = rangeText(told)
    setRange(rangeIn(told, whole))
  }, [rangeText(told)])
  useLayoutEffect(() => {
    const seen = range[0] <= whole[0] && range[1] >= whole[1] ? null : range
    if (rangeText(seen) === known.current) return undefined
    const timer = setTimeout(() => {
      known.current = rangeText(seen)
      tell(seen)
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [range])
  return [range, setRange]
}
