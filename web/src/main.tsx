/** Opens the page: takes the data out of it or from where it is served, builds the model, draws. */
import { effect } from "@preact/signals"
import { render } from "preact"
import { liveAddress, startLive } from "./live"
import { buildPage } from "./model"
import { baseName, distinctPaths, printable } from "./names"
import { renewPage } from "./renew"
import type { DiffPart, FolderData } from "./schema"
import { followAddress, isDark, notice, page, profile } from "./state"
import "./style.css"
import { type Container, PageError, unpack, unpackText } from "./unpack"
import { Folder } from "./views/folder/folder"
import { followKeys } from "./views/shell/keyboard"
import { Shell } from "./views/shell/shell"

const DATA_ID = "proton-data"
const FOLDER_ID = "proton-folder"

async function open(): Promise<void> {
  const place = document.getElementById("app")
  if (place === null) return
  effect(() => {
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light"
  })
  try {
    const folder = document.getElementById(FOLDER_ID)
    if (folder !== null) {
      showFolder(JSON.parse(folder.textContent ?? "") as FolderData, place)
      return
    }
    const data = document.getElementById(DATA_ID)
    if (data === null) throw new PageError("This page holds no profile; write one with: proton report FILE")
    const address = liveAddress(data)
    if (address !== null) {
      follow(address, place)
      return
    }
    performance.mark("proton:parsed")
    const container = await unpackText(data.textContent ?? "")
    performance.mark("proton:unpacked")
    data.remove() // nobody reads it twice
    show(container, place)
  } catch (error) {
    complain(lineOf(error), place)
  }
}

/** Show what `proton serve` has, now and whenever it changes. */
function follow(address: string, place: HTMLElement): void {
  startLive(address, {
    onData: (buffer) => {
      try {
        show(unpack(buffer), place)
      } catch (error) {
        throw new PageError(lineOf(error))
      }
    },
    onProblem: (line) => {
      notice.value = line
      if (page.value === null) complain(line, place)
    },
  })
}

/** Show the index of a folder that is served. */
function showFolder(of: FolderData, place: HTMLElement): void {
  document.title = `${of.name} – proton`
  place.replaceChildren()
  render(<Folder of={of} />, place)
}

function show(container: Container, place: HTMLElement): void {
  const next = buildPage(container)
  if (page.value !== null) {
    renewPage(next)
    return
  }
  page.value = next
  followAddress()
  followKeys()
  effect(() => {
    const shown = profile.value
    document.title = shown === null ? "proton" : `${page.value?.diff ? pairTitle(page.value.diff) : printable(baseName(shown.source))} – proton`
  })
  render(null, place) // a line that stood here
  place.replaceChildren()
  render(<Shell />, place)
  performance.mark("proton:drawn") // for benchmarks, like the other marks
}

/** Both profiles of a comparison, the older one first. */
function pairTitle(of: DiffPart): string {
  return distinctPaths([of.before.source, of.after.source]).map(printable).join(" → ")
}

function complain(line: string, place: HTMLElement): void {
  render(line === "" ? null : <p class="problem opening">{printable(line)}</p>, place)
}

/** What to tell the reader of an error; one that is none of ours is a bug, and the console has it all. */
function lineOf(error: unknown): string {
  if (error instanceof PageError) return error.message
  console.error(error)
  return `This page cannot be shown: ${String(error)}`
}

void open()
