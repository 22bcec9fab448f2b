"""`proton [options] target`: profiles a target from its first line to its last exit handler."""

from __future__ import annotations

from collections.abc import Callable

from proton.cli.arguments import RunArguments
from proton.cli.children import follow_children, leave_children_alone, stop_being_followed
from proton.cli.launch import run_as_main
from proton.cli.profiled_run import ProfiledRun
from proton.cli.summary import say
from proton.cli.target import check_target
from proton.errors import UsageError
from proton.runtime.file_names import pick_format
from proton.runtime.flags import flags


def prepare(arguments: RunArguments) -> Callable[[], int]:
    """Check the target and open the session; the function that then runs the target.

    Raises:
        ProtonError: the target or an option is wrong, or the machine lacks something.
    """
    check_target(arguments.target)
    pick_format(arguments.output_format, arguments.data)  # said now, not after the run
    stop_being_followed()
    if flags.command_line:
        raise UsageError("this process is profiled by a proton command already; leave this one out")
    run = ProfiledRun(arguments)
    run.start(arguments.name)
    if arguments.follow_children:
        follow_children(run)
    else:
        leave_children_alone()
    return lambda: _run(run)


def _run(run: ProfiledRun) -> int:
    """Run the target; the profile is written when the process ends, after the target's threads."""
    try:
        refusal = run_as_main(run.arguments.target)
    except SystemExit as error:
        code = error.code  # of any type, with any idea of equality
        run.target_succeeded = code is None or (isinstance(code, int) and code == 0)
        raise
    except BaseException:
        run.target_succeeded = False
        raise
    if refusal is None:
        return 0
    run.discard()
    say([refusal])
    return 2
