"""`python -m proton`: the same as the command `proton`, and always ours."""

import sys

from proton.cli import main

if __name__ == "__main__":
    sys.exit(main())
