import { expect, it } from "vitest"
import { type Inks, drawTimes } from "./canvas"

/** A canvas that remembers where texts begin and end; a letter is six pixels wide. */
function written(draw: (context: CanvasRenderingContext2D) => void): [string, number, number][] {
  const texts: [string, number, number][] = []
  const context = {
    fillRect: () => undefined,
    measureText: (words: string) => ({ width: 6 * words.length }),
    fillText: (words: string, x: number) => texts.push([words, x - 3 * words.length, x + 3 * words.length]),
  }
  draw(context as unknown as CanvasRenderingContext2D)
  return texts
}

it("writes whole times above a picture that begins beside names", () => {
  const [left, width] = [76, 700]
  const texts = written((context) => drawTimes(context, [0, 139_000], { left, width, height: 90, inks: {} as Inks }))
  expect(texts[0]?.[0]).toBe("0")
  for (const [, from, to] of texts) {
    expect(from).toBeGreaterThanOrEqual(left) // what is left of it is cut off
    expect(to).toBeLessThanOrEqual(width)
  }
})
