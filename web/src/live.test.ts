import { beforeEach, describe, expect, it } from "vitest"
import { type Listeners, liveAddress, liveState, startLive, type Wires } from "./live"

/** A server and a browser of which the test says what happens, and when. */
class Fake implements Wires, Listeners {
  streams: { url: string; isOpen: boolean; source: EventSource }[] = []
  timers: { ms: number; then: () => void }[] = []
  answers: (() => Response)[] = []
  fetched = 0
  got: string[] = []
  said: string[] = []
  hidden = false
  onSeen: () => void = () => {}

  fetch = async (): Promise<Response> => {
    this.fetched++
    const answer = this.answers.shift()
    if (answer === undefined) throw new TypeError("Failed to fetch")
    return answer()
  }
  listen = (url: string): EventSource => {
    const entry = { url, isOpen: true, source: {} as EventSource }
    entry.source.close = () => (entry.isOpen = false)
    this.streams.push(entry)
    return entry.source
  }
  later = (then: () => void, ms: number): (() => void) => {
    const timer = { ms, then }
    this.timers.push(timer)
    return () => (this.timers = this.timers.filter((each) => each !== timer))
  }
  isHidden = (): boolean => this.hidden
  onVisibility = (then: () => void): void => void (this.onSeen = then)
  onData = (buffer: ArrayBuffer): void => {
    const text = new TextDecoder().decode(buffer)
    if (text === "bad") throw new Error("damaged")
    this.got.push(text)
  }
  onProblem = (line: string): void => void this.said.push(line)

  has(version: string, text = version): void {
    this.answers.push(() => new Response(text, { headers: { ETag: `"${version}"` } }))
  }
  fails(text: string): void {
    this.answers.push(() => new Response(text, { status: 409 }))
  }
  async tell(version: string): Promise<void> {
    this.streams.at(-1)?.source.onmessage?.({ data: version } as MessageEvent<string>)
    await settle()
  }
  async breakOff(): Promise<void> {
    this.streams.at(-1)?.source.onerror?.({} as Event)
    await settle()
  }
  async pass(): Promise<number> {
    const timer = this.timers.shift()
    timer?.then()
    await settle()
    return timer?.ms ?? 0
  }
  async see(isSeen: boolean): Promise<void> {
    this.hidden = !isSeen
    this.onSeen()
    await settle()
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

let fake: Fake

async function start(): Promise<void> {
  startLive("data", fake, fake)
  await settle()
}

beforeEach(() => {
  fake = new Fake()
  liveState.value = "off"
})

describe("live data", () => {
  it("come at once, and again only when the files changed", async () => {
    fake.has("1")
    await start()
    await fake.tell("1")
    expect(fake.got).toEqual(["1"])
    expect(liveState.value).toBe("live")
    fake.has("2")
    await fake.tell("2")
    expect(fake.got).toEqual(["1", "2"])
    expect(fake.streams.map((each) => each.url)).toEqual(["changes"])
  })

  it("are fetched once more for a change that came during a fetch", async () => {
    fake.has("1")
    await start()
    await fake.tell("1")
    let answer: (response: Response) => void = () => {}
    fake.fetch = () => new Promise((resolve) => (answer = resolve))
    await fake.tell("2")
    await fake.tell("3")
    fake.fetch = async () => new Response("3", { headers: { ETag: '"3"' } })
    answer(new Response("2", { headers: { ETag: '"2"' } }))
    await settle()
    expect(fake.got).toEqual(["1", "2", "3"])
  })

  it("stay while a file is being written, and the page says so until it is whole", async () => {
    fake.has("1")
    await start()
    fake.fails("run.hatchet: still being written")
    await fake.tell("2")
    expect(fake.got).toEqual(["1"])
    expect(fake.said).toEqual(["run.hatchet: still being written"])
    fake.fails("run.hatchet: it was cut")
    expect(await fake.pass()).toBe(6000)
    expect(fake.said.at(-1)).toBe("run.hatchet: it was cut")
    fake.has("3")
    await fake.tell("3")
    expect(fake.got).toEqual(["1", "3"])
    expect(fake.said.at(-1)).toBe("")
    expect(fake.timers).toEqual([])
  })

  it("that cannot be read are a line, not an end", async () => {
    fake.has("1", "bad")
    await start()
    expect(fake.said).toEqual(["damaged"])
    fake.has("2")
    await fake.tell("2")
    expect(fake.got).toEqual(["2"])
    expect(fake.said.at(-1)).toBe("")
  })
})

describe("the connection", () => {
  it("is tried again with longer and longer pauses, and found again", async () => {
    fake.has("1")
    await start()
    await fake.tell("1")
    const pauses: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      await fake.breakOff()
      expect(liveState.value).toBe("lost")
      pauses.push(await fake.pass())
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000])
    expect(fake.said.at(-1)).toContain("connection to proton serve is lost")
    await fake.tell("1")
    expect(liveState.value).toBe("live")
    expect(fake.said.at(-1)).toBe("")
    expect(fake.fetched).toBe(1)
    await fake.breakOff()
    expect(await fake.pass()).toBe(500)
  })

  it("that never was is said", async () => {
    await start()
    expect(liveState.value).toBe("lost")
    expect(fake.said).toHaveLength(1)
  })

  it("is given up while nobody looks, and taken up again", async () => {
    fake.has("1")
    await start()
    await fake.tell("1")
    await fake.see(false)
    expect(fake.streams.map((each) => each.isOpen)).toEqual([false])
    expect(liveState.value).toBe("paused")
    await fake.see(true)
    fake.has("2")
    await fake.tell("2")
    expect(fake.got).toEqual(["1", "2"])
  })

  it("is not tried while nobody looks", async () => {
    fake.has("1")
    await start()
    await fake.breakOff()
    await fake.see(false)
    expect(fake.timers).toEqual([])
    await fake.see(true)
    expect(fake.streams).toHaveLength(2)
  })
})

it("a page with data of its own has no live address", () => {
  expect(liveAddress({ dataset: {} } as HTMLElement)).toBeNull()
  expect(liveAddress({ dataset: { live: "data" } } as unknown as HTMLElement)).toBe("data")
})
