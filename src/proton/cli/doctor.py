"""`proton doctor`: what Proton finds on this machine, and what to do about each problem.

Looks without touching: neither Triton, torch nor CUDA is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from proton.cli import doctor_packages
from proton.cli.finding import Finding
from proton.cli.help import VERSION
from proton.errors import UsageError

USAGE = """\
usage: proton doctor

Checks this machine: versions, native core, backend, GPU, sampling, commands, environment. Each
problem comes with its remedy. Exit code 0: no problem; 1: at least one.

examples:
  proton doctor
  proton doctor && proton train.py"""


def run(words: Sequence[str]) -> int:
    """Print the report; 1 when there is a problem in it."""
    if any(word in ("-h", "--help") for word in words):
        print(USAGE)
        return 0
    if words:
        raise UsageError(f"doctor takes no arguments, {words[0]!r} was given")
    print(VERSION)
    findings = list(examine())
    for finding in findings:
        print(finding)
    problems = sum(finding.is_problem for finding in findings)
    print(f"{problems} problem{'s' * (problems != 1)} found" if problems else "no problem found")
    return int(problems > 0)


def examine() -> Iterator[Finding]:
    """Every finding, in the order of the report."""
    core = list(doctor_packages.native_core())
    checks: list[Callable[[], Iterator[Finding]]] = [
        doctor_packages.python,
        lambda: iter(core),
        doctor_packages.packages,
        doctor_packages.commands,
    ]
    if not any(finding.is_problem for finding in core):  # the rest asks the recording half
        from proton.cli import doctor_machine as machine

        checks += [machine.gpu, machine.backend, machine.environment, machine.folder]
    for check in checks:
        yield from check()
