"""What makes a shell complete `proton`, `proton-viewer` and `proton-opt`: a script for each shell.

The words are those of the parsers themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from proton.cli import opt, viewer
from proton.cli.parser import COMMANDS, PROGRAM, RUN, build_parser, known_values, takes_value
from proton.errors import UsageError

Table = dict[str, list[argparse.Action]]  # command -> its options


def completion_script(shell: str) -> str:
    """The script for `shell`, to be sourced by it.

    Raises:
        UsageError: there is no such shell.
    """
    _, branches = build_parser()
    parsers = {f"{PROGRAM} {command}": branches[command] for command in COMMANDS}
    parsers |= {
        PROGRAM: branches[RUN],
        viewer.PROGRAM: viewer.make_parser(),
        opt.PROGRAM: opt.make_parser(),
    }
    table = {
        command: [action for action in parser.actions if action.option_strings]
        for command, parser in parsers.items()
    }
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in writers:
        raise UsageError.unknown("shell", shell, choices=writers)
    return writers[shell](table)


def _bash(table: Table) -> str:
    return f"""\
# bash completion of proton; in ~/.bashrc: source <(proton --completion bash)
_proton_complete() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[0]##*/}}" words=""
  if [[ $command == proton && $COMP_CWORD -gt 1 ]]; then
    case "${{COMP_WORDS[1]}}" in {"|".join(COMMANDS)}) command="proton ${{COMP_WORDS[1]}}" ;; esac
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
    local commands="{" ".join(COMMANDS)}"
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current"; compgen -f -- "$current")
    return
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -o bashdefault -F _proton_complete {_programs()}"""


def _zsh(table: Table) -> str:
    return f"""\
# zsh completion of proton; in ~/.zshrc, after compinit: source <(proton --completion zsh)
_proton_complete() {{
  local command=${{words[1]:t}}
  if [[ $command == proton && $CURRENT -gt 2 ]]; then
    case ${{words[2]}} in {"|".join(COMMANDS)}) command="proton ${{words[2]}}" ;; esac
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
  [[ $command == proton && $CURRENT -eq 2 ]] && compadd -- {" ".join(COMMANDS)}
  _files
}}
compdef _proton_complete {_programs()}"""


def _cases(table: Table, line: str) -> str:
    """A case for every option whose values are known."""
    return "\n".join(
        line.format(
            pattern="|".join(f'"{command}:{name}"' for name in option.option_strings),
            words=" ".join(known_values(option)),
        )
        for command, options in table.items()
        for option in options
        if known_values(option)
    )


def _flag_cases(table: Table, line: str) -> str:
    """A case for every command, with all its options."""
    return "\n".join(
        line.format(
            pattern=f'"{command}"',
            words=" ".join(name for option in options for name in _long_first(option)),
        )
        for command, options in table.items()
    )


def _long_first(option: argparse.Action) -> list[str]:
    return sorted(option.option_strings, key=lambda name: not name.startswith("--"))


def _programs() -> str:
    return " ".join((PROGRAM, viewer.PROGRAM, opt.PROGRAM))


def _fish(table: Table) -> str:
    lines = [
        "# fish completion of proton; in config.fish: proton --completion fish | source",
        "complete -c proton -n __fish_use_subcommand -a "
        + _quoted(" ".join(COMMANDS))
        + " -d 'command'",
    ]
    for command, options in table.items():
        program, _, word = command.partition(" ")
        condition = f" -n '__fish_seen_subcommand_from {word}'" if word else ""
        if command == PROGRAM:
            condition = " -n __fish_use_subcommand"
        lines += (
            f"complete -c {program}{condition} {' '.join(_fish_words(option))}"
            for option in options
        )
    return "\n".join(lines)


def _fish_words(option: argparse.Action) -> Iterator[str]:
    for name in _long_first(option):
        if name.startswith("--"):
            yield f"-l {name[2:]}"
        else:
            yield f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}"
    if values := known_values(option):
        yield f"-x -a {_quoted(' '.join(values))}"
    elif takes_value(option):
        yield "-r"
    if option.help:
        yield f"-d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
