"""The index of a folder: its recordings, newest first, as a page that renews itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from proton.files.growing import Recording
from proton.files.schema import FORMAT_OF_SUFFIX, TRACE_FORMATS
from proton.render.display_names import printable
from proton.render.folder_facts import Facts
from proton.render.units import MISSING

_SCRIPT = """
const stream = new EventSource("changes");
let known = null;
stream.onmessage = (event) => {
  if (known !== null && known !== event.data) location.reload();
  known = event.data;
};
const chosen = () => [...document.querySelectorAll("input:checked")].map((box) => box.value);
const button = document.querySelector("button");
const renew = () => {
  button.disabled = chosen().length !== 2;
  history.replaceState(chosen(), ""); // ticks survive the page's renewals
};
document.querySelectorAll("input").forEach((box) => {
  box.checked = (history.state ?? []).includes(box.value);
  box.addEventListener("change", renew);
});
button.addEventListener("click", () => {
  location.href = "view/" + chosen().reverse().join("/") + "/#view=diff"; // the older one first
});
renew();
"""

_STYLE = """
:root {
  color-scheme: light; --ground: #fff; --line: #dfe2e7; --ink: #171b21; --quiet: #5a6370;
  --raised: #f5f6f8; --accent: #1f5fbf; --problem: #b3151f; --good: #2c6b3f;
}
@media (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark; --ground: #14171b; --line: #313842; --ink: #e6e9ed; --quiet: #9aa4b1;
    --raised: #1c2026; --accent: #7db2f7; --problem: #ff8a85; --good: #86cf9c;
  }
}
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
header {
  display: flex; align-items: center; gap: 14px; padding: 6px 12px; min-height: 28px;
  border-bottom: 1px solid var(--line);
}
h1 { font-size: 13px; margin: 0; flex: 1; overflow-wrap: anywhere; }
h1 b { margin-right: 14px; }
h1 span { font-weight: 600; }
main { padding: 12px; overflow-x: auto; }
p { margin: 4px 0 12px; color: var(--problem); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 8px; text-align: left; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
td { white-space: nowrap; }
td.name { white-space: normal; overflow-wrap: anywhere; width: 50%; min-width: 12em; }
tbody tr:hover { background: var(--raised); }
.number { text-align: right; }
.quiet { color: var(--quiet); }
.open { color: var(--good); }
.problem { color: var(--problem); }
input { margin: 0; vertical-align: middle; }
button {
  font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line);
  border-radius: 4px; padding: 2px 10px;
}
button:enabled { cursor: pointer; border-color: var(--accent); }
button:disabled { color: var(--quiet); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
"""

_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; script-src 'sha256-{_HASH}'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'"
)


class _Row(NamedTuple):
    recording: Recording
    changed_s: float
    size_bytes: int


def folder_page(
    folder: Path,
    recordings: Sequence[Recording],
    facts_of: Callable[[Recording], Facts] = lambda _: Facts(),
    problem: str = "",
) -> str:
    """The page of a folder with these recordings; `problem` is one line on top of it."""
    rows = sorted(map(_row, recordings), key=lambda row: -row.changed_s)
    if not rows and not problem:
        problem = "There is no profile in this folder any more."
    said = f"<p>{escape(printable(problem))}</p>" if problem else ""
    listed = "".join(_row_text(row, facts_of(row.recording)) for row in rows)
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(printable(folder.name))} - proton</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1><b>proton</b><span>{escape(printable(str(folder)))}</span></h1>
<button disabled title="tick two profiles">Compare two</button>
</header>
<main>
{said}
<table>
<thead><tr><th></th><th>profile</th><th>kind</th><th>device</th><th class="number">kernel runs</th>
<th class="number">total time</th><th class="number">size</th>
<th class="number">changed (UTC)</th></tr></thead>
<tbody>
{listed}</tbody>
</table>
</main>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _row(recording: Recording) -> _Row:
    changed_s, size_bytes = 0.0, 0
    for path in recording.files:
        try:
            status = path.stat()
        except OSError:  # gone since it was found
            continue
        changed_s = max(changed_s, status.st_mtime)
        size_bytes += status.st_size
    return _Row(recording, changed_s, size_bytes)


def _row_text(row: _Row, facts: Facts) -> str:
    name = row.recording.name
    shown = escape(printable(name))
    link = quote(name, safe="", errors="surrogateescape")
    changed = datetime.fromtimestamp(row.changed_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
    state = ' <span class="open">● recording now</span>' if row.recording.is_open else ""
    device = escape(printable(facts.device))
    if facts.problem:
        title = escape(printable(facts.problem))
        device = f'<span class="problem" title="{title}">cannot be read</span>'
    return (
        f'<tr><td><input type="checkbox" value="{escape(link)}" '
        f'aria-label="compare {shown}"></td>'
        f'<td class="name"><a href="view/{link}/">{shown}</a>{state}</td>'
        f"<td>{_kind(row.recording)}</td><td>{device}</td>"
        f'<td class="number">{facts.kernels or MISSING}</td>'
        f'<td class="number">{facts.time or MISSING}</td>'
        f'<td class="number">{_size(row.size_bytes)}</td>'
        f'<td class="number quiet">{changed}</td></tr>\n'
    )


def _kind(recording: Recording) -> str:
    """What the names of its files say it is; a journal alone says nothing."""
    named = [path for path in recording.files if path != recording.journal]
    formats = [FORMAT_OF_SUFFIX.get(path.suffix.removeprefix(".")) for path in named]
    kind = "trace" if formats and formats[0] in TRACE_FORMATS else "tree" if formats else ""
    return f"{kind}, {len(recording.parts)} phases" if recording.parts else kind


def _size(size_bytes: int) -> str:
    size, unit = float(size_bytes), "B"
    for larger in ("KB", "MB", "GB"):
        if size < 999.5:  # what three digits can show
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}" if unit != "B" else f"{size_bytes} B"
