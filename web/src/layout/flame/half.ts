/** Half of a sandwich: contexts by name, then those next to them by name, and so on.
 *
 * It is walked as far as it is seen and no further: callers of 50 000 contexts, or of one 10 000
 * levels deep, would be millions of boxes. Nothing here recurses.
 */

/** Contexts, and how much of each counts. */
export interface Contexts {
  rows: number[]
  weights: number[]
}

/** Contexts that one box stands for. */
interface Box extends Contexts {
  name: number
  parent: number
  depth: number
  width: number
  children: number[] | null
}

/** What is next to a context, given how much of it counts. */
export type Next = (row: number, weight: number, add: (row: number, weight: number) => void) => void

/** Boxes by number; 0 is what it begins with. */
export class Half {
  isCut = false
  readonly #boxes: Box[]
  #work = 0
  // Numbers grow with every grouping, so that what an earlier one left behind is known by its size.
  readonly #groupOfName: Float64Array
  readonly #placeOfRow: Float64Array
  #nextGroup = 1
  #nextPlace = 1

  /** @param isOfOne `start` is of one name and box 0 stands for it; else for everything, and the names of `start` are next */
  constructor(
    readonly names: Int32Array,
    start: Contexts,
    isOfOne: boolean,
    readonly next: Next,
    readonly budget: number,
  ) {
    const width = start.weights.reduce((sum, weight) => sum + weight, 0)
    const first: Box = { name: -1, parent: -1, depth: 0, width, ...(isOfOne ? start : { rows: [0], weights: [width] }), children: null }
    this.#boxes = [first]
    this.#groupOfName = new Float64Array(names.length)
    this.#placeOfRow = new Float64Array(names.length)
    if (!isOfOne) first.children = this.#group(0, start)
  }

  at(box: number): Readonly<Box> | undefined {
    return this.#boxes[box]
  }

  children(box: number): readonly number[] {
    const here = this.#boxes[box]
    if (here === undefined) return []
    if (here.children === null) {
      if (this.#work > this.budget) {
        this.isCut = true
        return []
      }
      this.#work += here.rows.length
      const found: Contexts = { rows: [], weights: [] }
      const add = (row: number, weight: number): void => {
        found.rows.push(row)
        found.weights.push(weight)
      }
      for (let at = 0; at < here.rows.length; at++) this.next(here.rows[at] as number, here.weights[at] as number, add)
      here.children = this.#group(box, found)
    }
    return here.children
  }

  /** The box at the end of these names, from box 0 on; 0 if there is none. */
  find(path: readonly number[]): number {
    let box = 0
    for (const name of path) {
      const next = this.children(box).find((child) => this.#boxes[child]?.name === name)
      if (next === undefined) return 0
      box = next
    }
    return box
  }

  refresh(): void {
    this.#work = 0
    this.isCut = false
  }

  /** New boxes next to `parent`, one for each name, the widest first. */
  #group(parent: number, { rows, weights }: Contexts): number[] {
    const depth = (this.#boxes[parent]?.depth ?? 0) + 1
    const groups: Box[] = []
    const [firstGroup, firstPlace] = [this.#nextGroup, this.#nextPlace]
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const weight = weights[at] as number
      const name = this.names[row] as number
      let number = (this.#groupOfName[name] as number) - firstGroup
      if (number < 0) {
        number = groups.length
        this.#groupOfName[name] = this.#nextGroup++
        groups.push({ name, parent, depth, width: 0, rows: [], weights: [], children: null })
      }
      const group = groups[number] as Box
      group.width += weight
      const place = (this.#placeOfRow[row] as number) - firstPlace
      if (place >= 0) group.weights[place] = (group.weights[place] as number) + weight
      else {
        this.#placeOfRow[row] = firstPlace + group.rows.length
        this.#nextPlace = Math.max(this.#nextPlace, firstPlace + group.rows.length + 1)
        group.rows.push(row)
        group.weights.push(weight)
      }
    }
    groups.sort((a, b) => b.width - a.width)
    return groups.map((group) => this.#boxes.push(group) - 1)
  }
}
