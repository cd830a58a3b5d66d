"""PyTensor compiles nothing in C for tests, and writes nothing outside this checkout."""

import os
from pathlib import Path

COMPILED = Path(__file__).parents[2] / ".cache" / "pytensor"
os.environ.setdefault(
    "PYTENSOR_FLAGS", f"base_compiledir={COMPILED},cxx=,linker=py,optimizer=fast_compile"
)
