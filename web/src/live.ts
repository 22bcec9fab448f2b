/** Follows `proton serve`: fetches the data, and fetches them again whenever files change.
 *
 * A served page has no data of its own: its element tells where they come from (`data-live`).
 */
import { signal } from "@preact/signals"

/** off: not served; paused: nobody looks; lost: the server is gone, or cannot be reached. */
export type LiveState = "off" | "live" | "paused" | "lost"

export const liveState = signal<LiveState>("off")

/** What the browser does for us; tests bring their own. */
export interface Wires {
  fetch(address: string): Promise<Response>
  listen(address: string): EventSource
  /** Call `then` after a while; what is returned takes that back. */
  later(then: () => void, ms: number): () => void
  isHidden(): boolean
  onVisibility(then: () => void): void
}

export interface Listeners {
  /** The bytes of a container; what it throws is said like any other problem. */
  onData(buffer: ArrayBuffer): void
  /** One line on what is wrong with the files now; empty once it is not any more. */
  onProblem(line: string): void
}

const CHANGES = "changes"
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
/** A file with a problem is looked at again: one that does not grow any more was cut. */
const LOOK_AGAIN_MS = 6_000
const LOST = "The connection to proton serve is lost. The page shows the last data that it received. Is proton serve still running?"

const browser: Wires = {
  fetch: (address) => fetch(address, { cache: "no-store" }),
  listen: (address) => new EventSource(address),
  later: (then, ms) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
  isHidden: () => document.hidden,
  onVisibility: (then) => document.addEventListener("visibilitychange", then),
}

/** Where a page's data come from, where it is served; null for a page that holds them. */
export function liveAddress(element: HTMLElement): string | null {
  return element.dataset["live"] ?? null
}

/** Fetch the data at `address` now and whenever they change, as long as the page is open. */
export function startLive(address: string, listeners: Listeners, wires: Wires = browser): void {
  new Follower(address, listeners, wires).start()
}

class Follower {
  /** The version of the files that was fetched last, and the one that the server told last. */
  #shown = ""
  #told = ""
  #isFetching = false
  #delayMs = FIRST_DELAY_MS
  #stream: EventSource | null = null
  #cancel: () => void = () => {}
  #cancelLook: () => void = () => {}
  #isProblem = false

  constructor(
    readonly address: string,
    readonly listeners: Listeners,
    readonly wires: Wires,
  ) {}

  start(): void {
    this.wires.onVisibility(() => this.#followVisibility())
    void this.#fetch()
    this.#followVisibility()
  }

  /** A browser opens few connections to one server: pages that nobody sees give theirs up. */
  #followVisibility(): void {
    this.#cancel()
    if (this.wires.isHidden()) {
      this.#hangUp()
      liveState.value = "paused"
    } else if (this.#stream === null) {
      this.#connect()
    }
  }

  #hangUp(): void {
    this.#stream?.close()
    this.#stream = null
  }

  #connect(): void {
    const stream = this.wires.listen(CHANGES)
    this.#stream = stream
    stream.onmessage = (event: MessageEvent<string>) => {
      this.#delayMs = FIRST_DELAY_MS
      if (liveState.value === "lost") this.#say("")
      liveState.value = "live"
      this.#told = event.data
      if (event.data !== this.#shown) void this.#fetch()
    }
    stream.onerror = () => {
      if (this.#stream !== stream) return
      this.#hangUp()
      this.#lose()
      this.#cancel = this.wires.later(() => this.#connect(), this.#delayMs)
      this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS)
    }
  }

  async #fetch(): Promise<void> {
    if (this.#isFetching) return // when that one is done, it looks whether there is something newer
    this.#isFetching = true
    this.#cancelLook()
    const told = this.#told
    try {
      const response = await this.wires.fetch(this.address)
      if (response.ok) this.#take(await response.arrayBuffer(), response.headers.get("ETag") ?? "")
      else this.#refuse(await response.text(), told)
    } catch {
      this.#lose()
    }
    this.#isFetching = false
    if (this.#told !== told && this.#told !== this.#shown) void this.#fetch()
  }

  #take(buffer: ArrayBuffer, tag: string): void {
    this.#shown = tag.replaceAll('"', "")
    try {
      this.listeners.onData(buffer)
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error))
      return
    }
    if (this.#isProblem) this.#say("")
  }

  #refuse(line: string, told: string): void {
    this.#shown = told
    this.#say(line)
    this.#cancelLook = this.wires.later(() => void this.#fetch(), LOOK_AGAIN_MS)
  }

  #lose(): void {
    liveState.value = "lost"
    this.#say(LOST)
  }

  #say(line: string): void {
    this.#isProblem = line !== ""
    this.listeners.onProblem(line)
  }
}
