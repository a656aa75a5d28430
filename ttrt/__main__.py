"""`python -m ttrt` is the command `ttrt`."""

import sys

from ttmlir.tools.ttrt import main

if __name__ == "__main__":
    sys.exit(main())
