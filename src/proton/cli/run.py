"""`proton [options] target`: profiles a target from its first line to its last exit handler."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from proton._version import __version__
from proton.cli.parser import COMMANDS, Option, Parser
from proton.errors import UsageError

if TYPE_CHECKING:  # loaded when they are needed: --help is not to wait for them
    from proton.cli.target import Target
    from proton.runtime.request import SessionRequest

VERSION = f"proton {__version__} (proton-profiler), not Triton's"
SHELLS = ("bash", "zsh", "fish")
_INSTRUMENTATION = "instrumentation"

USAGE = f"""\
[options] script.py [arguments]
       proton [options] pytest [arguments]
       proton [options] --module package.module [arguments]
       proton {" | ".join(COMMANDS)} ..."""

DESCRIPTION = """\
Profiles a Python program without changing it, and writes NAME.hatchet when it ends. Everything
after the target belongs to the target. After '--' comes the target, whatever its name."""

_COMMANDS = "\n".join(f"  {name:<29}{text}" for name, text in COMMANDS.items())

EXAMPLES = f"""\
commands:
{_COMMANDS}

examples:
  proton matmul.py --size 1024          then: proton-viewer -m time/ms proton.hatchet
  proton train.py                       of torch: time by module, with -c ops by operator
  proton -n run1 -c python train.py     Python frames in place of scopes, into run1.hatchet
  proton -d trace -n run1 train.py      a timeline, into run1.chrome_trace
  proton -k triton pytest -q tests      names, flops and bytes from launch metadata
  proton --module package.tool x y      as: python -m package.tool x y
  proton --follow-children launch.py    a profile per process: proton.PID.hatchet
  proton report run1.hatchet            a page with everything in it: run1.html
  proton serve profiles/                all profiles of a folder, always up to date
  proton merge profiles/ -o r.hatchet   one profile of many ranks
  source <(proton --completion bash)    completion in bash; also for zsh and fish

Every command has a --help of its own. Triton installs a 'proton' too; 'python -m proton' is always
this one."""


class _Completion(Option):
    """Prints the script of a shell, and that is all."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        super().__call__(parser, namespace, values, option_string)
        from proton.cli.completion import completion_script

        print(completion_script(values))
        parser.exit()


def add_arguments(parser: Parser) -> None:
    """The options of `proton` itself. Those of a session have the names of `SessionRequest`."""
    add = parser.add_argument
    add("-n", "--name", action=Option, metavar="NAME",
        help="name of the profile and its file; default 'proton'")  # fmt: skip
    add("-b", "--backend", action=Option, metavar="BACKEND", may_be_empty=False,
        help="the backend that records; default: the one that fits this machine")  # fmt: skip
    add("-c", "--context", action=Option, metavar="KIND", default="", may_be_empty=False,
        words=("shadow", "python", "blame", "ops"),
        help="contexts are scopes, Python frames, or torch's modules and operators")  # fmt: skip
    add("-m", "--mode", action=Option, metavar="MODE",
        help="options of the backend: name[:key=value...]")  # fmt: skip
    add("--instrument", action=Option, metavar="MODE", may_be_empty=False,
        help="in kernels: default, ops, loops, mma, async-wait, cta, bytes, memory")  # fmt: skip
    add("-d", "--data", action=Option, metavar="KIND", default="tree",
        words=("tree", "trace"), help="sums in a calling tree, or a timeline")  # fmt: skip
    add("-k", "--hook", action=Option, metavar="HOOK", words=("triton",),
        help="take names and metrics from launch metadata")  # fmt: skip
    add("--schedule", action=Option, metavar="STEPS", may_be_empty=False,
        help="record some steps: wait=2,warmup=1,active=3,repeat=1")  # fmt: skip
    add("--output-format", action=Option, metavar="FORMAT", default="",
        help="hatchet, hatchet_msgpack (trees), chrome_trace or perfetto (traces)")  # fmt: skip
    add("--module", nargs=argparse.REMAINDER, metavar="MODULE",
        help="run a module, as python -m does")  # fmt: skip
    add("--follow-children", action="store_true",
        help="profile child Python processes too, each as NAME.PID")  # fmt: skip
    add("-q", "--quiet", action="store_true", help="do not print what was written")
    add("--completion", action=_Completion, metavar="SHELL", words=SHELLS,
        help="print a completion script for this shell")  # fmt: skip
    add("-V", "--version", action="version", version=VERSION,
        help="print the version")  # fmt: skip
    add("target", nargs=argparse.REMAINDER)


def run(arguments: argparse.Namespace) -> Callable[[], int]:
    """Check the target and open the session; the function that then runs the target.

    Raises:
        ProtonError: the target or an option is wrong, or the machine lacks something.
    """
    target, request = target_of(arguments), request_of(arguments)
    # not before they are needed: they load the recording half
    from proton.cli.children import follow_children, leave_children_alone, stop_being_followed
    from proton.cli.profiled_run import ProfiledRun
    from proton.runtime.sessions import flags

    target.check()
    stop_being_followed()
    if flags.command_line:
        raise UsageError("this process is profiled by a proton command already; leave this one out")
    profiled = ProfiledRun(request, quiet=arguments.quiet)
    profiled.start(request.name)
    if arguments.follow_children:
        follow_children(profiled)
    else:
        leave_children_alone()
    return lambda: profiled.run(target)


def request_of(arguments: argparse.Namespace) -> SessionRequest:
    """What the command line asks of a session.

    Raises:
        UsageError: two options exclude each other.
    """
    from proton.runtime.request import SessionRequest

    if arguments.instrument is not None:  # short for a backend and its mode
        backend, mode = arguments.backend, arguments.mode
        if mode is not None or backend not in (None, _INSTRUMENTATION):
            other = "--mode" if mode is not None else f"--backend {backend}"
            raise UsageError(
                f"--instrument={arguments.instrument} and {other} exclude each other: it is short "
                f"for --backend {_INSTRUMENTATION} --mode {arguments.instrument}"
            )
        arguments.backend, arguments.mode = _INSTRUMENTATION, arguments.instrument
    return SessionRequest(*(getattr(arguments, field) for field in SessionRequest._fields))


def target_of(arguments: argparse.Namespace) -> Target:
    """What is to be profiled, with the words that belong to it.

    Raises:
        UsageError: nothing is.
    """
    from proton.cli.target import Target

    words: list[str] = arguments.target
    module: list[str] | None = arguments.module
    if module is not None:
        if not module or not module[0]:
            raise UsageError("'--module' needs a value: --module MODULE")
        # argparse parts the words at a '--'
        return Target(module[0], (*module[1:], *words), is_module=True)
    if words[:1] == ["--"]:
        words = words[1:]
        if not words:
            raise UsageError("no target follows '--'; name a script, as in: proton -- script.py")
    if not words:
        raise UsageError(
            f"no target was given{_taken(arguments)}; name a script, pytest or a module, "
            "as in: proton script.py"
        )
    if words[0].rpartition("/")[2] in ("pytest", "py.test"):
        return Target("pytest", tuple(words[1:]), is_module=True)
    return Target(words[0], tuple(words[1:]))


def _taken(arguments: argparse.Namespace) -> str:
    """Which option took the word that may have been meant as the target."""
    for option, value in vars(arguments).items():
        if isinstance(value, str) and value.endswith(".py"):
            return f" ({value!r} was taken as the value of --{option.replace('_', '-')})"
    if arguments.mode is not None:
        return f" ('-m' is the mode; a module: --module {arguments.mode})"
    return ""
