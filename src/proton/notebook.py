"""`proton.show`: the page of a profile in a notebook, or in the browser where there is none."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from proton.analysis.prepare import prepare
from proton.errors import UsageError
from proton.files.detect import open_profile
from proton.model.profile import Profile
from proton.render.page.html import page_of
from proton.render.server.browser import open_in_browser
from proton.render.text.head import head_lines
from proton.render.text.style import Style

__all__ = ["show"]

_LEAST_HEIGHT = 200

# The frame has an origin of its own: whatever a profile holds, it cannot reach the notebook.
_FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" title="{title}" srcdoc="{page}" '
    'style="box-sizing:border-box;width:100%;height:{height}px;'
    'border:1px solid #8884;border-radius:4px"></iframe>'
)


def show(*profiles: str | os.PathLike[str] | Profile, height: int = 640) -> None:
    """Show profiles as a page.

    In a Jupyter notebook the page stands below the cell and is saved with the notebook. Elsewhere
    it is written to a temporary file and opened in the browser; one line says where it is.

    Args:
        profiles: Paths, or what `open_profile` returned. Two are compared, the second with the
            first. None: what this process wrote last.
        height: Of the frame in the notebook, in pixels.

    Raises:
        FormatError: A file cannot be read, or nothing was recorded in it.
        UsageError: A value without meaning, or this process has written no profile.
        PageNotBuilt: This installation was made without the page.

    Example:
        >>> proton.show("run.hatchet")
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < _LEAST_HEIGHT:
        raise UsageError(f"height {height!r} is too small; give {_LEAST_HEIGHT} pixels or more")
    shown = [_open(each) for each in profiles or (_latest(),)]
    page = page_of(shown)
    shell = _notebook()
    if shell is None:
        _show_elsewhere(page, shown)
        return
    from IPython.display import display  # it is there: the notebook runs on it

    title = ", ".join(os.path.basename(each.source) for each in shown)
    frame = _FRAME.format(title=escape(title), page=escape(page), height=height)
    display({"text/html": frame, "text/plain": _text(shown)}, raw=True)


def _open(profile: str | os.PathLike[str] | Profile) -> Profile:
    return profile if isinstance(profile, Profile) else open_profile(profile)


def _latest() -> str:
    """The file that this process wrote last."""
    output = sys.modules.get("proton.runtime.phase_files")  # loaded if anything was recorded
    path = None if output is None else output.latest_file()
    if path is None:
        raise UsageError(
            "this process has written no profile yet; call proton.finalize() first, or name a "
            "file: proton.show('run.hatchet')"
        )
    return str(path)


def _notebook() -> Any | None:
    """The shell of the notebook that this process is the kernel of; None where it is of none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _text(profiles: Sequence[Profile]) -> str:
    """What is shown where a notebook cannot show pages: heads of the profiles, what to do."""
    lines = [head_lines(prepare(each), Style())[0] for each in profiles]
    paths = " ".join(each.source for each in profiles)
    return "\n".join((*lines, f"(a page, which cannot be shown here; try: proton serve {paths})"))


def _show_elsewhere(page: str, profiles: Sequence[Profile]) -> None:
    name = Path(profiles[0].source).stem or "profile"
    handle, path = tempfile.mkstemp(prefix=f"proton-{name[:40]}-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(page)
    is_open = open_in_browser(Path(path).as_uri())
    print(f"proton: the page is {path}{'' if is_open else '; open it in a browser'}")
