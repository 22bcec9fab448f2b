"""What makes a shell complete `proton`, `proton-viewer` and `proton-opt`: a script for each shell.

The words come from where the commands themselves have them: the table of options, the usage texts
of commands, the parsers.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from proton.cli.arguments import OPTIONS, SHELLS
from proton.errors import UsageError

PROGRAMS = ("proton", "proton-viewer", "proton-opt")
_USAGE_LINE = re.compile(
    r"^  (?P<names>--?[a-z][\w-]*(?:, --[a-z][\w-]*)?)(?: (?P<value>[A-Z]+))?  +(?P<help>\S.*)$",
    re.MULTILINE,
).finditer


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of a command: how it is spelt, whether a value follows, and which."""

    names: tuple[str, ...]
    takes_value: bool = False
    choices: tuple[str, ...] = ()
    help: str = ""


def completion_script(shell: str, commands: tuple[str, ...]) -> str:
    """The script for `shell`, to be sourced by it.

    Args:
        shell: One of SHELLS.
        commands: The words that `proton` takes as commands.

    Raises:
        UsageError: There is no such shell.
    """
    table = {"proton": _of_proton()}
    for command in commands:
        table[f"proton {command}"] = _of_command(command)
    table["proton-viewer"] = _of_parser("proton.cli.viewer")
    table["proton-opt"] = _of_parser("proton.cli.opt")
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in writers:
        raise UsageError.unknown("shell", shell, choices=SHELLS)
    return writers[shell](table, commands)


Table = dict[str, list[Flag]]


def _of_proton() -> list[Flag]:
    return [
        Flag(
            (f"--{option.long}", *([f"-{option.short}"] if option.short else [])),
            bool(option.metavar),
            option.choices,
            option.help,
        )
        for option in OPTIONS
    ]


def _of_command(command: str) -> list[Flag]:
    usage: str = import_module(f"proton.cli.{command}").USAGE
    found = [
        Flag(tuple(line["names"].split(", ")), line["value"] is not None, (), line["help"])
        for line in _USAGE_LINE(usage)
    ]
    return [*found, Flag(("--help", "-h"), help="print how it is used")]


def _of_parser(module: str) -> list[Flag]:
    parser: argparse.ArgumentParser = import_module(module)._parser()
    return [
        Flag(
            tuple(action.option_strings),
            action.nargs != 0,
            tuple(map(str, action.choices or ())),
            action.help or "",
        )
        for action in parser._actions
        if action.option_strings
    ]


def _bash(table: Table, commands: tuple[str, ...]) -> str:
    return f"""\
# bash completion of proton; in ~/.bashrc: source <(proton --completion bash)
_proton_complete() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[0]##*/}}" words=""
  if [[ $command == proton && $COMP_CWORD -gt 1 ]]; then
    case "${{COMP_WORDS[1]}}" in {"|".join(commands)}) command="proton ${{COMP_WORDS[1]}}" ;; esac
  fi
  COMPREPLY=()
  case "$command:$before" in
{_cases(table, '    {pattern}) words="{words}" ;;')}
  esac
  if [[ -z $words && $current == -* ]]; then
    case "$command" in
{_flag_cases(table, '      {pattern}) words="{words}" ;;')}
    esac
  elif [[ -z $words && $command == proton && $COMP_CWORD -eq 1 ]]; then
    local commands="{" ".join(commands)}"
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current"; compgen -f -- "$current")
    return
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -o bashdefault -F _proton_complete {" ".join(PROGRAMS)}"""


def _zsh(table: Table, commands: tuple[str, ...]) -> str:
    return f"""\
# zsh completion of proton; in ~/.zshrc, after compinit: source <(proton --completion zsh)
_proton_complete() {{
  local command=${{words[1]:t}}
  if [[ $command == proton && $CURRENT -gt 2 ]]; then
    case ${{words[2]}} in {"|".join(commands)}) command="proton ${{words[2]}}" ;; esac
  fi
  case "$command:${{words[CURRENT-1]}}" in
{_cases(table, "    {pattern}) compadd -- {words}; return ;;")}
  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    case $command in
{_flag_cases(table, "      {pattern}) compadd -- {words} ;;")}
    esac
    return
  fi
  [[ $command == proton && $CURRENT -eq 2 ]] && compadd -- {" ".join(commands)}
  _files
}}
compdef _proton_complete {" ".join(PROGRAMS)}"""


def _cases(table: Table, line: str) -> str:
    """A case for every option whose values are known."""
    lines = []
    for command, flags in table.items():
        for flag in flags:
            if flag.choices:
                pattern = "|".join(f'"{command}:{name}"' for name in flag.names)
                lines.append(line.format(pattern=pattern, words=" ".join(flag.choices)))
    return "\n".join(lines)


def _flag_cases(table: Table, line: str) -> str:
    """A case for every command, with all its options."""
    lines = []
    for command, flags in table.items():
        names = " ".join(name for flag in flags for name in flag.names)
        lines.append(line.format(pattern=f'"{command}"', words=names))
    return "\n".join(lines)


def _fish(table: Table, commands: tuple[str, ...]) -> str:
    lines = [
        "# fish completion of proton; in config.fish: proton --completion fish | source",
        "complete -c proton -n __fish_use_subcommand -a "
        + _quoted(" ".join(commands))
        + " -d 'command'",
    ]
    for command, flags in table.items():
        program, _, word = command.partition(" ")
        condition = f" -n '__fish_seen_subcommand_from {word}'" if word else ""
        if command == "proton":
            condition = " -n __fish_use_subcommand"
        lines += (
            f"complete -c {program}{condition} {' '.join(_fish_words(flag))}" for flag in flags
        )
    return "\n".join(lines)


def _fish_words(flag: Flag) -> Iterator[str]:
    for name in flag.names:
        if name.startswith("--"):
            yield f"-l {name[2:]}"
        else:
            yield f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}"
    if flag.choices:
        yield f"-x -a {_quoted(' '.join(flag.choices))}"
    elif flag.takes_value:
        yield "-r"
    if flag.help:
        yield f"-d {_quoted(flag.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
