"""What `proton --help` and `proton --version` print."""

from __future__ import annotations

from proton._version import __version__
from proton.cli.arguments import OPTIONS, Option

VERSION = f"proton {__version__} (proton-profiler), not Triton's"

_HEAD = """\
usage: proton [options] script.py [arguments]
       proton [options] pytest [arguments]
       proton [options] --module package.module [arguments]
       proton doctor | report | serve | convert | merge | recover ...

Profiles a Python program without changing it, and writes NAME.hatchet when it ends. All that
follows the target is the target's own. '--' says that a target follows, whatever its name.
"""

_COMMANDS = """\
commands:
  doctor                       check this machine and say what to do about each problem
  report FILE... [-o PAGE]     a page for the browser that shows profiles, in one file
  serve FILE... | FOLDER       the same on this machine, renewed while a job writes
  convert INPUT OUTPUT         rewrite a profile in the format that OUTPUT's suffix names
  merge A B... -o OUT          profiles of several ranks as one, with their spread
  recover FILE [-o OUTPUT]     the profile of a process that was killed, from its journal
"""

_EXAMPLES = """\
examples:
  proton matmul.py --size 1024          then: proton-viewer -m time/ms proton.hatchet
  proton -n run1 -c python train.py     Python frames in place of scopes, into run1.hatchet
  proton -d trace -n run1 train.py      a timeline, into run1.chrome_trace
  proton -k triton pytest -q tests      names, flops and bytes from launch metadata
  proton --module package.tool x y      as: python -m package.tool x y
  proton --follow-children launch.py    a profile per process: proton.PID.hatchet
  proton report run1.hatchet            a page with everything in it: run1.html
  proton serve profiles/                all profiles of a folder, always new
  proton merge profiles/ -o r.hatchet   one profile of many ranks
  source <(proton --completion bash)    complete all this in bash; zsh and fish likewise

Triton installs a command of this name too; 'python -m proton' is always this one.
"""


def help_text() -> str:
    """The whole of `proton --help`."""
    options = "options:\n" + "".join(_option_line(option) for option in OPTIONS)
    return "\n".join((_HEAD, options, _COMMANDS, _EXAMPLES)).rstrip()


def _option_line(option: Option) -> str:
    spellings = f"-{option.short}, --{option.long}" if option.short else f"    --{option.long}"
    spellings = f"  {spellings} {option.metavar}".rstrip()
    text = option.help
    if option.choices:
        text += f" ({'|'.join(option.choices)})"
    return f"{spellings:<30} {text}\n"
