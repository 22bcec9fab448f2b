"""The words of all commands: one tree of argparse parsers, with errors of one line.

A command's own module adds its options; here is what they have in common. Help and shell completion
read the same actions that parse. What follows a target is the target's, flags like ours included.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from proton.errors import UsageError, did_you_mean

PROGRAM = "proton"
RUN = "run"  # the branch of everything that is no command; nobody writes it
# Command -> what it does. Each is a module of this room with USAGE, DESCRIPTION, EXAMPLES,
# add_arguments(parser) and run(arguments) -> exit code.
COMMANDS = {
    "doctor": "check this machine and give a remedy for each problem",
    "report": "write a page for the browser that shows profiles, in one file",
    "compare": "tell what became slower or faster between two profiles; a gate for CI",
    "serve": "serve such pages on this machine, and update them while a job writes",
    "convert": "convert a profile to the format that the output's suffix names",
    "merge": "merge the profiles of several ranks, and keep their spread",
    "recover": "rebuild the profile of a killed process from its journal",
}
WIDEST = 100
_TEXT_AT = 31  # the column of the explanations


class Option(argparse.Action):
    """An option with a value, which tells what is wrong with it by the spelling that was used.

    Attributes:
        words: the values it may have; empty: any.
        needs: what is missing where no value follows, with an example.
    """

    def __init__(
        self,
        option_strings: Sequence[str],
        dest: str,
        *,
        words: Sequence[str] = (),
        needs: str = "",
        may_be_empty: bool = True,
        **others: Any,
    ) -> None:
        # "?": argparse calls us where the value is missing, too
        super().__init__(option_strings, dest, nargs="?", **others)
        self.words = tuple(words)
        self.needs = needs
        self.may_be_empty = may_be_empty

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value.

        Raises:
            UsageError: it is missing, or no value of this option.
        """
        where = _where(parser)
        if values is None or not (values or self.may_be_empty):
            if self.needs:
                raise UsageError(f"{where}{option_string} needs {self.needs}")
            raise UsageError(
                f"{where}'{option_string}' needs a value: {option_string} {self.metavar}"
            )
        if self.words and values not in self.words:
            raise UsageError.unknown(
                f"{where}value for '{option_string}':", values, choices=self.words
            )
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations, whose errors are a `UsageError` and whose help is ours.

    Attributes:
        actions: what was added, in its order.
    """

    def __init__(self, **settings: Any) -> None:
        self.actions: list[argparse.Action] = []
        super().__init__(
            allow_abbrev=False,
            add_help=False,  # `--help` is the last option, not the first
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """As argparse has it; the action is kept for help and completion."""
        action = super().add_argument(*names, **settings)
        self.actions.append(action)
        return action

    def add_help_option(self) -> None:
        """The option that every command ends its list with."""
        self.add_argument("-h", "--help", action="help", help="print this text")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """What argparse calls for values with choices; in our words."""
        if action.choices is not None and value not in action.choices:
            names = "/".join(action.option_strings) or action.dest
            raise UsageError.unknown(
                f"{_where(self)}value for '{names}':", value, choices=map(str, action.choices)
            )

    def error(self, message: str) -> NoReturn:
        """One line, printed by the command's `main` like all others."""
        _, unrecognized, words = message.partition("unrecognized arguments: ")
        if unrecognized and words.startswith("-"):
            raise _unknown(self, words.split()[0])
        raise UsageError(f"{message}; see: {self.prog} --help")

    def format_help(self) -> str:
        """Usage, what it does, options, examples."""
        from shutil import get_terminal_size  # slow to load

        from proton.cli.help_text import fit_text, fit_usage

        width = min(get_terminal_size((WIDEST, 0)).columns, WIDEST)
        parts = [fit_usage(self.usage or "", width), fit_text(self.description or "", width)]
        for title, is_option in (("arguments", False), ("options", True)):
            actions = [a for a in self.actions if bool(a.option_strings) is is_option and a.help]
            if actions:
                lines = [line for action in actions for line in _explained(action, width)]
                parts.append("\n".join([f"{title}:", *lines]))
        return "\n\n".join([*parts, fit_text(self.epilog or "", width)]).rstrip() + "\n"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The meaning of the words after `proton`; `run` of the result carries it out.

    Raises:
        UsageError: they have none; the text says what to write instead.
        SystemExit: they asked for help or the like, which was printed.
    """
    is_command = bool(argv) and argv[0] in COMMANDS
    command, words = (argv[0], [*argv[1:]]) if is_command else (RUN, [*argv])
    root, branches = build_parser(command)
    parser = branches[command]
    try:
        if command == RUN:
            words = _module_apart(root, words)
        arguments, rest = root.parse_known_args([command, *words])
    except argparse.ArgumentError as error:
        raise _explain(error, parser, words) from None
    _take_rest(arguments, parser, rest)
    return arguments


def build_parser(*commands: str) -> tuple[Parser, dict[str, Parser]]:
    """The tree and its branches by name; only those asked for, because each loads its module."""
    root = Parser(prog=PROGRAM, exit_on_error=False)
    branches = root.add_subparsers(dest="command", parser_class=Parser)
    for command in commands or (RUN, *COMMANDS):
        module = import_module(f"proton.cli.{command}")
        prog = PROGRAM if command == RUN else f"{PROGRAM} {command}"
        parser = branches.add_parser(
            command,
            prog=prog,
            usage=f"{prog} {module.USAGE}".rstrip(),
            description=module.DESCRIPTION,
            epilog=module.EXAMPLES,
            exit_on_error=False,
        )
        module.add_arguments(parser)
        parser.add_help_option()
        parser.set_defaults(run=module.run)
    return root, dict(branches.choices)


def _module_apart(root: Parser, words: list[str]) -> list[str]:
    """`--module=NAME` of ours as two words, behind which argparse leaves all to the target."""
    for at, word in enumerate(words):
        if word.startswith("--module="):
            before, _ = root.parse_known_args([RUN, *words[:at]])
            if not (before.target or before.module):
                return [*words[:at], "--module", word.partition("=")[2], *words[at + 1 :]]
            break
    return words


def _take_rest(arguments: argparse.Namespace, parser: Parser, rest: Sequence[str]) -> None:
    """What argparse left: files behind an option belong to those before it, options are unknown."""
    files: list[str] = []
    for at, word in enumerate(rest):
        if word == "--":
            files += rest[at + 1 :]
            break
        if word.startswith("-") and word != "-":
            raise _unknown(parser, word)
        files.append(word)
    if files and not hasattr(arguments, "files"):
        raise UsageError(f"{arguments.command} takes no arguments, {files[0]!r} was given")
    if files:
        arguments.files += files


def _unknown(parser: Parser, word: str) -> UsageError:
    flag = word.partition("=")[0] if word.startswith("--") else word[:2]
    known = [name[2:] for action in parser.actions for name in action.option_strings]
    near = did_you_mean(flag[2:], filter(None, known)) if flag.startswith("--") else ""
    remedy = near.replace("mean '", "mean '--")
    return UsageError(f"{_where(parser)}unknown option '{flag}'{remedy}; see: {parser.prog} --help")


def _explain(error: argparse.ArgumentError, parser: Parser, words: Sequence[str]) -> UsageError:
    """What is wrong with a flag that was given a value, as in `--quiet=1` or `-qz`."""
    names = (error.argument_name or "").split("/")
    for word in words:
        flag, equals, value = word.partition("=")
        if equals and flag in names:
            return UsageError(
                f"{_where(parser)}unknown option '{flag}' with the value {value!r}: "
                f"'{flag}' takes no value"
            )
        if word[:2] in names:
            return _unknown(parser, f"-{word[2:3]}")
    return UsageError(f"{_where(parser)}{error}; see: {parser.prog} --help")


def _where(parser: argparse.ArgumentParser) -> str:
    """`"merge: "` in front of what a command has to say; nothing for `proton` itself."""
    command = parser.prog.partition(" ")[2]
    return f"{command}: " if command else ""


def takes_value(action: argparse.Action) -> bool:
    """Whether a word may follow the option that belongs to it."""
    return action.nargs != 0


def known_values(action: argparse.Action) -> tuple[str, ...]:
    """The values an option may have, where they can be listed."""
    return action.words if isinstance(action, Option) else tuple(map(str, action.choices or ()))


def _explained(action: argparse.Action, width: int) -> Iterator[str]:
    """The lines of one argument in a help text."""
    import textwrap  # slow to load

    names = sorted(action.option_strings, key=lambda name: name.startswith("--"))
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if not names:
        spelling = metavar
    else:
        spelling = ("" if len(names[0]) == 2 else "    ") + ", ".join(names)
        optional = action.nargs == "?" and not isinstance(action, Option)
        spelling += f" [{metavar}]" if optional and metavar else f" {metavar}" if metavar else ""
    text = action.help or ""
    if isinstance(action, Option) and action.words:
        text += f" ({'|'.join(action.words)})"
    lines = textwrap.wrap(text, max(width - _TEXT_AT, 20), break_on_hyphens=False)
    if len(spelling) + 3 > _TEXT_AT:
        lines.insert(0, "")
    for line in lines:
        yield f"  {spelling:<{_TEXT_AT - 2}}{line}".rstrip()
        spelling = ""
