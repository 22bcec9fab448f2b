/** Opens the page: takes the data out of it, builds the model, draws. */
import { effect } from "@preact/signals"
import { render } from "preact"
import { buildPage } from "./model"
import { baseName, printable } from "./names"
import { FormatError } from "./read"
import { followAddress, isDark, page, profile } from "./state"
import "./style.css"
import { PageError, unpackText } from "./unpack"
import { followKeys } from "./views/keyboard"
import { Shell } from "./views/shell"

const DATA_ID = "proton-data"

async function open(): Promise<void> {
  const place = document.getElementById("app")
  if (place === null) return
  effect(() => {
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light"
  })
  try {
    const data = document.getElementById(DATA_ID)
    if (data === null) throw new PageError("This page holds no profile; write one with: proton report FILE")
    const container = await unpackText(data.textContent ?? "")
    data.remove() // nobody reads it twice
    page.value = buildPage(container)
  } catch (error) {
    const isOurs = error instanceof PageError || error instanceof FormatError
    const line = isOurs ? error.message : `This page cannot be shown: ${String(error)}`
    if (!isOurs) console.error(error)
    render(<p class="problem opening">{printable(line)}</p>, place)
    return
  }
  followAddress()
  followKeys()
  effect(() => {
    const shown = profile.value
    document.title = shown === null ? "proton" : `${printable(baseName(shown.source))} – proton`
  })
  place.replaceChildren()
  render(<Shell />, place)
}

void open()
