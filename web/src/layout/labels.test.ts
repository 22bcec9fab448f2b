import { expect, it } from "vitest"
import { type Piece, layoutLabels } from "./labels"

const seen = (pieces: Piece[]): string => pieces.map((piece) => (piece.isShown ? piece.text : piece.isMarked ? "…" : "")).join("")
const labels = (names: string[], room: number): string[] => layoutLabels(names, () => room).map(seen)
const gemm = (order: string, tile: string): string => `sm80_xmma_gemm_f32f32_f32f32_f32_${order}_n_tilesize${tile}_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas`

it("shows names that fit as they are", () => {
  expect(labels(["matmul", "at::native::add"], 20)).toEqual(["matmul", "at::native::add"])
})

it("keeps every letter in the page, seen or not", () => {
  const names = [gemm("tn", "32x32x8"), "at::native::reduce_kernel<512, 1, ReduceOp<float, func_wrapper_t<float>>>", "", "x"]
  for (const room of [3, 8, 20, 60, 400]) {
    expect(layoutLabels(names, () => room).map((pieces) => pieces.map((piece) => piece.text).join(""))).toEqual(names)
  }
})

it("shows what differs where names would look the same", () => {
  const names = [gemm("tn", "32x32x8"), gemm("nt", "32x32x8"), gemm("nn", "128x128x8"), gemm("tn", "128x128x8"), gemm("tn", "64x64x8")]
  for (const room of [24, 28, 36, 48]) {
    const shown = labels(names, room)
    expect(new Set(shown).size).toBe(names.length)
    for (const label of shown) expect(label.length).toBeLessThanOrEqual(room + 3)
  }
  expect(labels(names, 36)).toEqual(expect.arrayContaining([expect.stringMatching(/^sm80.*nt/)]))
})

it("leaves a namespace out of all names that have it, or of none", () => {
  const long = `at::native::${"vectorized_elementwise_kernel".repeat(2)}`
  expect(labels(["at::native::add", long, "c10::add_all"], 24)).toEqual(["add", "vectorized_e…wise_kernel", "c10::add_all"])
  expect(labels(["at::native::add", "c10::add_all"], 24)).toEqual(["at::native::add", "c10::add_all"])
})

it("keeps namespaces that tell names apart", () => {
  const tail = "kernel".repeat(8)
  expect(new Set(labels([`one::${tail}`, `two::${tail}`], 20)).size).toBe(2)
})

it("is done with names that are letter for letter the same", () => {
  expect(labels(["a".repeat(50), "a".repeat(50)], 9)).toEqual(["aaaa…aaaa", "aaaa…aaaa"])
})

it("tells thousands of names apart", () => {
  const names = Array.from({ length: 5000 }, (_, at) => `at::native::kernel_${"x".repeat(30)}_${at}`)
  expect(new Set(labels(names, 20)).size).toBe(names.length)
})
