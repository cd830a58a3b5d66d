"""What holds for every test: JAX compiles cheaply, one thread per engine, and no test may leave an engine's global state changed.

Three quarters of the suite's time would be JAX compiling small functions. Two things save most of it, both by environment
variables, so that workers and the programs that tests start have them too; one that is set already stays as it is:
`XLA_FLAGS= make test` compiles as users do, `JAX_ENABLE_COMPILATION_CACHE=0 make test` compiles everything anew.
"""

import os
import tempfile
from pathlib import Path

#: What XLA compiled in earlier runs. The key is the program, the flags and the versions: what changed is compiled anew.
COMPILED = Path(__file__).parent.parent / ".cache" / "jax"


def _compile_cheaply():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Code that runs once need not be fast: without LLVM's optimizer and XLA's fusion emitters, compiling takes 0.4 of the time.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false")
    try:
        COMPILED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=COMPILED):
            pass
    except OSError:  # a checkout that is read only: everything is compiled anew
        return
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


_compile_cheaply()

import pytest
import torch
from backends_table import global_state

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _global_state_is_kept():
    before = global_state()
    yield
    assert global_state() == before
