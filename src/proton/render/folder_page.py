"""The index of a folder: its recordings, newest first, as a page that renews itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from proton.files.growing import Recording
from proton.files.schema import FORMAT_OF_SUFFIX, TRACE_FORMATS
from proton.render.names import printable

_SCRIPT = """
const stream = new EventSource("changes");
let known = null;
stream.onmessage = (event) => {
  if (known !== null && known !== event.data) location.reload();
  known = event.data;
};
const chosen = () => [...document.querySelectorAll("input:checked")].map((box) => box.value);
const button = document.querySelector("button");
const renew = () => { button.disabled = chosen().length !== 2; };
document.querySelectorAll("input").forEach((box) => box.addEventListener("change", renew));
button.addEventListener("click", () => {
  location.href = "view/" + chosen().join("/") + "/#view=diff";
});
renew();
"""

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid #8884; }
th { font-weight: 600; }
td:nth-child(2) { overflow-wrap: anywhere; width: 60%; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.open { color: #0a6b2d; }
button { font: inherit; padding: .2rem .8rem; }
a { color: #0b57b0; }
@media (prefers-color-scheme: dark) {
  body { background: #14171c; color: #e3e6ea; }
  a { color: #8ab8f5; }
  .open { color: #63c788; }
}
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


def folder_page(folder: Path, recordings: Sequence[Recording], problem: str = "") -> str:
    """The page of a folder with these recordings; `problem` is one line on top of it."""
    rows = sorted(map(_row, recordings), key=lambda row: -row.changed_s)
    said = f"<p>{escape(printable(problem))}</p>" if problem else ""
    if not rows and not problem:
        said = "<p>There is no profile in this folder any more.</p>"
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
<h1>{escape(printable(str(folder)))}</h1>
{said}
<table>
<thead><tr><th></th><th>profile</th><th>kind</th><th class="number">size</th>
<th class="number">changed (UTC)</th><th></th></tr></thead>
<tbody>
{"".join(map(_row_text, rows))}</tbody>
</table>
<p><button disabled>Compare the two chosen</button></p>
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


def _row_text(row: _Row) -> str:
    name = row.recording.name
    shown = escape(printable(name))
    link = quote(name, safe="", errors="surrogateescape")
    changed = datetime.fromtimestamp(row.changed_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
    state = '<span class="open">recording now</span>' if row.recording.is_open else ""
    return (
        f'<tr><td><input type="checkbox" value="{escape(link)}" '
        f'aria-label="compare {shown}"></td>'
        f'<td><a href="view/{link}/">{shown}</a></td><td>{_kind(row.recording)}</td>'
        f'<td class="number">{_size(row.size_bytes)}</td>'
        f'<td class="number">{changed}</td><td>{state}</td></tr>\n'
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
