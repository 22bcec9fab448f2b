import { describe, expect, test } from "vitest"
import type { RoofDevice, RoofDot } from "../schema"
import { EDGE, type Frame, LARGEST_RADIUS, dotAt, labelsOf, layoutRoofline } from "./roofline"

const FRAME: Frame = { width: 800, height: 500, left: 60, right: 20, top: 10, bottom: 40 }
const DEVICE: RoofDevice = {
  name: "H200",
  id: "0",
  multiprocessors: null,
  clock_mhz: null,
  bytes_per_s: 4.8e12,
  roofs: [
    { width: 16, label: "FP16 / BF16", flops_per_s: 9.9e14 },
    { width: 32, label: "TF32", flops_per_s: 4.9e14 },
  ],
}

function dot(more: Partial<RoofDot>): RoofDot {
  return {
    name: "k", kind: "k", row: 1, device: 0, contexts: 1, count: 1, time_ns: 1000, width: 16, intensity: 100,
    flops_per_s: 1e14, bytes_per_s: 1e12, least_ns: 500, headroom_ns: 500, share_of_peak: 0.5, bound: "compute", remark: "", ...more,
  }
}

describe("roofs", () => {
  test("the slope of the memory meets a roof at its ridge", () => {
    const plot = layoutRoofline(DEVICE, [dot({})], FRAME)
    const ridge = plot.roofs[0]?.flops as number / 4.8e12
    expect(plot.roofs[0]?.x1).toBeCloseTo(plot.x.at(ridge))
    expect(plot.memory?.x2).toBeCloseTo(plot.x.at(9.9e14 / 4.8e12))
    expect(plot.memory?.y2).toBeCloseTo(plot.roofs[0]?.y as number)
  })

  test("those that no kernel computes in are told apart", () => {
    expect(layoutRoofline(DEVICE, [dot({})], FRAME).roofs.map((roof) => roof.isUsed)).toEqual([true, false])
  })

  test("an unknown memory leaves flat roofs", () => {
    const plot = layoutRoofline({ ...DEVICE, bytes_per_s: null }, [dot({})], FRAME)
    expect(plot.memory).toBeNull()
    expect(plot.roofs[0]?.x1).toBe(FRAME.left)
  })
})

describe("dots", () => {
  test("twice the rate is higher by the same step wherever it is", () => {
    const plot = layoutRoofline(DEVICE, [dot({}), dot({ flops_per_s: 2e14 }), dot({ flops_per_s: 4e14 })], FRAME)
    const [low, middle, high] = [0, 1, 2].map((index) => plot.dots.find((each) => each.index === index)?.y as number)
    expect((low as number) - (middle as number)).toBeCloseTo((middle as number) - (high as number))
  })

  test("their area is their time", () => {
    const plot = layoutRoofline(DEVICE, [dot({ time_ns: 4000 }), dot({ time_ns: 1000 })], FRAME)
    expect(plot.dots.map((each) => each.radius)).toEqual([LARGEST_RADIUS, LARGEST_RADIUS / 2])
  })

  test("the roof above is the lower one of memory and arithmetic", () => {
    const plot = layoutRoofline(DEVICE, [dot({ intensity: 1 }), dot({ intensity: 1000 })], FRAME)
    const roofs = [0, 1].map((index) => plot.dots.find((each) => each.index === index)?.roofY)
    expect(roofs[0]).toBeCloseTo(plot.y.at(4.8e12))
    expect(roofs[1]).toBeCloseTo(plot.y.at(9.9e14))
  })

  test("bytes alone stand on the left edge, as far below the roof as they are below the memory's rate", () => {
    const plot = layoutRoofline(DEVICE, [dot({ intensity: null, flops_per_s: null, bytes_per_s: 2.4e12, width: null }), dot({})], FRAME)
    const placed = plot.dots.find((each) => each.index === 0)
    expect([placed?.edge, placed?.x]).toEqual(["left", FRAME.left + EDGE])
    expect((placed?.y as number) - (placed?.roofY as number)).toBeCloseTo(plot.y.at(1e12) - plot.y.at(2e12))
  })

  test("flops alone stand on the right edge, and what has neither is counted", () => {
    const flops = dot({ intensity: null, bytes_per_s: null })
    const nothing = dot({ intensity: null, bytes_per_s: null, flops_per_s: null })
    const plot = layoutRoofline(DEVICE, [flops, nothing], FRAME)
    expect([plot.dots[0]?.edge, plot.dots[0]?.x, plot.unplaced]).toEqual(["right", 780 - EDGE, 1])
  })

  test("all of them lie inside the frame", () => {
    const dots = [dot({ intensity: 0.001, flops_per_s: 1e6 }), dot({ intensity: 1e5 }), dot({ flops_per_s: 9e14 })]
    for (const each of layoutRoofline(DEVICE, dots, FRAME).dots) {
      expect(each.x).toBeGreaterThanOrEqual(FRAME.left)
      expect(each.x).toBeLessThanOrEqual(FRAME.width - FRAME.right)
      expect(each.y).toBeGreaterThanOrEqual(FRAME.top)
      expect(each.y).toBeLessThanOrEqual(FRAME.height - FRAME.bottom)
    }
  })

  test("a point finds the smallest dot over it, and none far away", () => {
    const plot = layoutRoofline(DEVICE, [dot({ time_ns: 1e6 }), dot({ time_ns: 10, flops_per_s: 1.1e14 })], FRAME)
    const small = plot.dots.find((each) => each.index === 1)
    expect(dotAt(plot, small?.x as number, small?.y as number)).not.toBe(-1)
    expect(dotAt(plot, 5, 5)).toBe(-1)
  })
})

test("names stand beside the largest dots, never on each other or on dots", () => {
  const dots = [9000, 8000, 7000, 10].map((time_ns, at) => dot({ time_ns, flops_per_s: (1 + at / 100) * 1e14 }))
  const labels = labelsOf(layoutRoofline(DEVICE, dots, FRAME), () => "a_kernel", FRAME)
  expect(labels.map((label) => label.index)).toEqual([0, 1, 2])
  expect(new Set(labels.map((label) => `${label.anchor} ${Math.sign(label.y - (labels[0]?.y ?? 0))}`)).size).toBe(3)
})

test("names do not lie on roofs, nor on the words along the memory's", () => {
  const dots = [2, 5, 12, 30, 70].map((intensity, at) => dot({ time_ns: 9000 - at, intensity, flops_per_s: 0.8 * 4.8e12 * intensity }))
  const plot = layoutRoofline(DEVICE, dots, FRAME)
  const { x1, y1, x2, y2 } = plot.memory as NonNullable<typeof plot.memory>
  for (const label of labelsOf(plot, () => "gemm_bf16_15", FRAME)) {
    const left = label.anchor === "start" ? label.x : label.x - 75
    for (let x = Math.max(left, x1); x < Math.min(left + 75, x2); x++) {
      const y = y1 + ((y2 - y1) * (x - x1)) / (x2 - x1)
      expect(Math.abs(y - (label.y - 4))).toBeGreaterThan(6)
    }
  }
})

test("roofs that are close to each other keep the name of the one that is used", () => {
  const device = { ...DEVICE, roofs: DEVICE.roofs.map((roof) => ({ ...roof, flops_per_s: 9e14 + roof.width })) }
  const roofs = layoutRoofline(device, [dot({ width: 32 })], FRAME).roofs
  expect(roofs.map((roof) => roof.isLabelled)).toEqual([false, true])
})

test("some of the slope is seen though all kernels are far to the right", () => {
  const plot = layoutRoofline(DEVICE, [dot({ intensity: 5000 })], FRAME)
  expect((plot.memory?.x2 as number) - (plot.memory?.x1 as number)).toBeGreaterThan(150)
})

test("a time that cannot be has the least radius", () => {
  for (const time_ns of [0, -5]) {
    const [placed] = layoutRoofline(DEVICE, [dot({ time_ns })], FRAME).dots
    expect(placed?.radius).toBeGreaterThan(0)
    expect(placed?.radius).toBeLessThan(LARGEST_RADIUS)
  }
})
