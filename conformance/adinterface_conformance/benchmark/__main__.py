"""`python -m adinterface_conformance.benchmark`."""

import sys

from .command import main

sys.exit(main())
