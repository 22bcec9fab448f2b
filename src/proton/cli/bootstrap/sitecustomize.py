"""Starts recording in a child interpreter of `proton --follow-children`.

Python imports `sitecustomize` when it starts, and PYTHONPATH leads it here. The environment's own
`sitecustomize`, which this one hides, is run first. Only the standard library may be needed: the
child can be another Python.
"""

import importlib
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_hidden_sitecustomize() -> None:
    """Import the module of this name that would have been found without us."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)  # the import under way must find one


def _start_recording() -> None:
    try:
        from proton.cli.children import start_child

        start_child()
    except Exception as error:  # the child's own work goes on whatever happens here
        text = f"proton: child process {os.getpid()} is not profiled: {error}\n"
        if sys.stderr is not None:
            sys.stderr.write(text)


sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
sys.path_importer_cache.pop(_HERE, None)
try:
    _run_hidden_sitecustomize()
finally:
    if "PROTON_FOLLOW_CHILDREN" in os.environ:
        _start_recording()
