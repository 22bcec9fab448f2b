import { describe, expect, it } from "vitest"
import type { InstructionRow, SampledStack, SourceFile, SourcePart } from "../schema"
import {
  NO_REASON,
  OTHERS,
  barOf,
  fileSum,
  filesOf,
  inlinedInto,
  hottestOf,
  isOfLine,
  kernelAt,
  kernelSum,
  kernelSums,
  linesOf,
  linesOfInstruction,
  placeOf,
  regionsOf,
  rowsInView,
  rowsOf,
  unplacedSum,
} from "./source"

const file = (path: string, isUser: boolean, count = 20): SourceFile => ({
  path,
  state: "same",
  remark: "",
  is_user: isUser,
  count,
  chunks: [[1, Array.from({ length: count }, (_, at) => `line ${at + 1}`)]],
})

// Places: user 3, user 4, library 9, library 5 (called from 9).
const USER_3 = 0
const USER_4 = 1
const LIBRARY_9 = 2
const LIBRARY_5 = 3
const SEEN: SampledStack[] = [
  [0, [USER_3], 60, 30, [[0, 50], [1, 10]]],
  [0, [LIBRARY_9, USER_4], 30, 5, [[2, 30]]],
  [0, [LIBRARY_5, LIBRARY_9, USER_4], 8, 1, [[2, 5], [0, 3]]],
  [1, [USER_4], 2, 0, [[1, 2]]],
  [1, [], 7, 0, [[1, 7]]],
]
const PART: SourcePart = {
  sampling: { samples: 107, period_cycles: null, window_ns: null, every_ns: null, dropped: 0, overflows: 0, non_user: null, left_out: 0, is_divided: false },
  kernels: [
    {
      name: "k", title: "k", samples: 98, remark: "",
      codes: [{
        symbol: "k", arch: 90, samples: 98, contexts: 1, remark: "", listed: "",
        instructions: [
          [0x10, "LDG", [USER_3], 60, 30, [[0, 50]]],
          [0x20, "ADD", [LIBRARY_9, USER_4], 30, 5, [[2, 30]]],
          [0x30, "NOP", [], 1, 0, []],
        ],
      }],
    },
    { name: "l", title: "l", samples: 9, remark: "", codes: [] },
  ],
  seen: SEEN,
  regions: [[USER_3, "k", "load", 0.5], [USER_3, "l", "load", 0.25], [USER_3, "k", "load", 0.1], [USER_4, "k", "loop", null]],
  reasons: [["wait", "", ""], ["selected", "", ""], ["drain", "", ""]],
  places: [[0, 3], [0, 4], [1, 9], [1, 5]],
  functions: ["", "", "sum", "add"],
  files: [file("k.py", true), file("lib.py", false)],
}
const ROWS = PART.kernels[0]?.codes[0]?.instructions ?? []

describe("samples of source", () => {
  it("counts for a line what was inlined there, and a sample once", () => {
    const lines = linesOf(PART, 0, null)
    expect([...lines.keys()].sort()).toEqual([3, 4])
    expect(lines.get(4)).toEqual({ line: 4, samples: 40, latency: 6, inlined: 38, reasons: [[2, 35], [0, 3], [1, 2]] })
    const recursive: SourcePart = { ...PART, seen: [[0, [USER_3, USER_4, USER_3], 5, 1, [[0, 5]]]] }
    expect(linesOf(recursive, 0, null).get(3)?.samples).toBe(5)
    expect(linesOf(recursive, 0, null).get(3)?.inlined).toBe(5)
  })

  it("counts those of one kernel only when asked", () => {
    expect(linesOf(PART, 0, 1).get(4)?.samples).toBe(2)
    expect(linesOf(PART, 0, 1).has(3)).toBe(false)
    expect(kernelSum(PART, 1).samples).toBe(9)
    expect(kernelSum(PART, null).samples).toBe(107)
    expect(kernelSums(PART)).toEqual([kernelSum(PART, 0), kernelSum(PART, 1)])
    expect(unplacedSum(PART, null).samples).toBe(7)
    expect(unplacedSum(PART, 0).samples).toBe(0)
  })

  it("counts a sample of a file once, however many of its lines are on the stack", () => {
    expect(fileSum(PART, 1, null).samples).toBe(38)
    expect(fileSum(PART, 0, null).samples).toBe(100)
  })

  it("lists files that kernels are written in before those that are inlined", () => {
    expect(filesOf(PART, null)).toEqual([{ file: 0, samples: 100 }, { file: 1, samples: 38 }])
    expect(filesOf(PART, 1)).toEqual([{ file: 0, samples: 2 }])
  })

  it("unfolds what was inlined into a line", () => {
    const found = inlinedInto(PART, 0, 4, null)
    expect(found.map(({ place, depth, samples }) => [place, depth, samples])).toEqual([
      [LIBRARY_9, 0, 38],
      [LIBRARY_5, 1, 8],
    ])
    expect(inlinedInto(PART, 0, 3, null)).toEqual([])
  })

  it("finds the instructions of a line, those of inlined functions too", () => {
    const at = (file: number, line: number): string[] => ROWS.filter((each) => isOfLine(PART, each, file, line)).map((each) => each[1])
    expect(at(0, 4)).toEqual(["ADD"])
    expect(at(1, 9)).toEqual(["ADD"])
    expect(at(1, 5)).toEqual([])
  })

  it("finds the lines of an instruction: in a file, and the one that it stands for", () => {
    const [load, add, nothing] = ROWS as [InstructionRow, InstructionRow, InstructionRow]
    expect([...linesOfInstruction(PART, add, 0)]).toEqual([4])
    expect([...linesOfInstruction(PART, add, 1)]).toEqual([9])
    expect(linesOfInstruction(PART, nothing, 0).size).toBe(0)
    expect(placeOf(PART, load, 0)).toEqual([0, 3])
    expect(placeOf(PART, add, 0)).toEqual([0, 4])
    expect(placeOf(PART, add, 1)).toEqual([1, 9]) // that of the file which is shown
    expect(placeOf(PART, add, 7)).toEqual([0, 4]) // else that of the user
    expect(placeOf(PART, nothing, 0)).toBe(null)
  })

  it("shows the code of the kernel with most samples in a place, if there is any", () => {
    expect(kernelAt(PART, null)).toBe(0)
    expect(kernelAt(PART, { file: 0, line: 4 })).toBe(0)
    expect(kernelAt({ ...PART, kernels: PART.kernels.slice(1) }, null)).toBe(null)
    expect(hottestOf(ROWS)?.[1]).toBe("LDG")
    expect(hottestOf([])).toBe(null)
  })

  it("draws the rows of a long list that are in view", () => {
    expect(rowsInView(10_000, 20, 0, 400)).toEqual([0, 32])
    expect(rowsInView(10_000, 20, 2000, 400)).toEqual([88, 132])
    expect(rowsInView(10_000, 20, 199_800, 400)).toEqual([9978, 10_000])
    expect(rowsInView(3, 20, 9000, 400)).toEqual([3, 3])
  })

  it("has the regions of a file by line, one of a name for each kernel", () => {
    const found = regionsOf(PART, 0)
    expect(found.get(3)?.map((each) => [each[1], each[3]])).toEqual([["k", 0.5], ["l", 0.25]])
    expect(found.get(4)?.map((each) => each[2])).toEqual(["loop"])
    expect(regionsOf(PART, 1).size).toBe(0)
  })

  it("has files of regions and of instructions that were never sampled", () => {
    const unsampled = { ...PART, kernels: [], seen: [], sampling: null }
    expect(filesOf(unsampled, null).map((each) => each.samples)).toEqual([0, 0])
    const cold: SourcePart = { ...PART, seen: SEEN.slice(0, 1) }
    expect(filesOf(cold, 0)).toEqual([{ file: 0, samples: 60 }, { file: 1, samples: 0 }])
    expect(filesOf({ ...PART, seen: [], regions: [] }, 1)).toEqual([])
  })

  it("divides a bar by the most frequent reasons and the rest", () => {
    const sum = { samples: 10, latency: 0, reasons: [[4, 5], [2, 3], [1, 1], [0, 1]] as [number, number][] }
    const bar = barOf(sum, 2)
    expect(bar.map((piece) => piece.reason)).toEqual([4, 2, -1])
    expect(bar.map((piece) => piece.share)).toEqual([0.5, 0.3, expect.closeTo(0.2)])
    expect(barOf(sum, 9)).toHaveLength(4)
  })

  it("has a piece of its own for samples without a reason", () => {
    const sum = { samples: 10, latency: 0, reasons: [[4, 3], [2, 2], [1, 1]] as [number, number][] }
    expect(barOf(sum, 2)).toEqual([
      { reason: NO_REASON, samples: 4, share: 0.4 },
      { reason: 4, samples: 3, share: 0.3 },
      { reason: 2, samples: 2, share: 0.2 },
      { reason: OTHERS, samples: 1, share: 0.1 },
    ])
  })
})

describe("rows of a file", () => {
  const texts = (rows: ReturnType<typeof rowsOf>): (string | number)[] =>
    rows.map((row) => (row.kind === "gap" ? `${row.first}+${row.count}` : row.line))

  it("are all of a short file", () => {
    expect(rowsOf(file("a", true, 3), new Map([[2, 1]]))).toEqual([
      { kind: "line", line: 1, text: "line 1" },
      { kind: "line", line: 2, text: "line 2" },
      { kind: "line", line: 3, text: "line 3" },
    ])
  })

  it("leave out what is far from samples in a long one, until asked", () => {
    const long = file("a", true, 1000)
    const rows = rowsOf(long, new Map([[500, 1]]))
    expect(texts([rows[0], rows.at(-1)].map((row) => row as never))).toEqual(["1+487", "513+488"])
    expect(rows).toHaveLength(27)
    const opened = rowsOf(long, new Map([[500, 1]]), new Set([1]))
    expect(texts(opened).slice(0, 3)).toEqual([1, 2, 3])
    expect(opened).toHaveLength(513)
  })

  it("are numbers alone where the file is gone", () => {
    const gone: SourceFile = { ...file("a", true, 0), state: "gone", chunks: [] }
    expect(rowsOf(gone, new Map([[7, 1], [3, 1]]))).toEqual([
      { kind: "line", line: 3, text: null },
      { kind: "line", line: 7, text: null },
    ])
  })

  it("have lines past the end of a file that changed, and line 0", () => {
    expect(texts(rowsOf(file("a", true, 2), new Map([[0, 1], [9, 1]])))).toEqual([0, 1, 2, 9])
  })

  it("say which lines the page does not hold", () => {
    const cut: SourceFile = { ...file("a", true, 1000), chunks: [[500, ["x"]]] }
    const rows = rowsOf(cut, new Map([[500, 1]]))
    expect(rows).toEqual([
      { kind: "gap", first: 1, count: 499, isInPage: false },
      { kind: "line", line: 500, text: "x" },
      { kind: "gap", first: 501, count: 500, isInPage: false },
    ])
  })
})
