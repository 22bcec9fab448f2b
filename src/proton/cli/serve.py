"""`proton serve FILE... | FOLDER`: the pages of `proton report`, on this machine and always new."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from proton.cli import say
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy
from proton.errors import UsageError

USAGE = "FILE... | FOLDER [--port N] [--no-open] [--no-token]"
DESCRIPTION = """\
Shows profiles in the browser: one FILE, several in one page to compare, or a FOLDER with a list of
what it holds. Pages update when files change, and stay where you are. To follow a job while it
runs, serve its profile by name (run, run.hatchet, run.part_0.hatchet): phases appear as they are
written. The page says what is not complete yet.
Only this machine can connect, only to the given profiles, and only with the token in the address.
Ctrl-C ends it."""

EXAMPLES = """\
examples:
  proton serve run.hatchet
  proton serve before.hatchet after.hatchet     both, and what changed
  proton serve profiles/ --port 9000
  proton serve run --no-open                    over SSH, with: ssh -L 8710:127.0.0.1:8710 HOST"""


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    add = parser.add_argument
    add("files", nargs="*")
    add("--port", action=Option, metavar="N", needs="a number; as in: --port 9000",
        help="the port to use, 0 for any that is free; default: 8710, or the next")  # fmt: skip
    add("--no-open", action="store_true", help="do not open a browser")
    add("--no-token", action="store_true",
        help="let in every user of this machine, without a token in the address")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; the exit code.

    Raises:
        ProtonError: a word is wrong, there is no profile, or the port cannot be used.
    """
    from proton.render.server.browser import open_in_browser  # readers: not for --help
    from proton.render.server.serve import Server
    from proton.render.server.site import Site, page_maker

    if not arguments.files:
        raise UsageError("serve needs a profile or a folder; as in: proton serve run.hatchet")
    port = None if arguments.port is None else _port(arguments.port)
    site = Site(arguments.files, page_maker())
    with busy(f"reading {site.name}"):
        problem = site.prepare()
    server = Server(site, port, token="" if arguments.no_token else None)
    say([*filter(None, [problem]), f"serving {site.name} at {server.url} (Ctrl-C ends it)"])
    if not arguments.no_open and not open_in_browser(server.url):
        say([_how_to_reach(server.port)])
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print(file=sys.stderr)  # behind the ^C
    finally:
        server.close()
    return 0


def _how_to_reach(port: int) -> str:
    """What to do where no browser could be opened."""
    if not os.environ.get("SSH_CONNECTION"):
        return "no browser could be opened; open the address in a browser on this machine"
    forward = f"ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}"
    return f"on your own machine run: {forward}, and open the address there"


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise UsageError(f"serve: {text!r} is not a port; give a number from 0 to 65535")
    return int(text)
