/** Whether people can tell two colours apart: for tests of all that is drawn. */

/** The contrast of two `#rrggbb` colours, 1 to 21. */
export function contrast(first: string, second: string): number {
  const [dark, light] = [luminance(first), luminance(second)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
