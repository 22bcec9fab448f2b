"""`python -m proton.proton`: the spelling that `python -m triton.profiler.proton` becomes."""

import sys

from proton.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
