/** Types of what the page gets. Made by tools/schema.py from Python's dataclasses. */

/** Version of a file's `proton` key. */
export const FORMAT_VERSION = 1

/** The CTAs of one launch, the last that was read. Times are on the host's clock. */
export interface Ctas {
  /** how many ran */
  count: number
  /** multiprocessors that ran some */
  sms: number
  /** start of the first, host clock */
  first_start_ns: number | null
  /** end of the last, host clock */
  last_end_ns: number | null
  /** median of how long a CTA ran */
  p50_ns: number | null
  /** 99th percentile of it */
  p99_ns: number | null
  /** how often the device was filled; 1.2: a second time, mostly empty */
  waves: number | null
  /** from the first idle multiprocessor to the end */
  tail_ns: number | null
  /** busy share of each multiprocessor, by number; null: ran nothing */
  per_sm: (number | null)[]
  /** CTAs that ran, in equal parts of the time */
  active: number[]
}
