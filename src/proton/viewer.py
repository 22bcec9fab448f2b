"""`python -m proton.viewer`, and the functions that scripts import, on llnl-hatchet GraphFrames.

The command line needs neither llnl-hatchet nor pandas; the functions import them when called.
"""

from __future__ import annotations

import sys

from proton.cli.viewer import main

if __name__ == "__main__":
    sys.exit(main())
