"""What holds for every test: JAX compiles cheaply, one thread per engine, and an engine's global
state is as it was before.

Three quarters of the suite's time would be JAX compiling small functions. Four things save most of
it, and give way to a variable that is set already: `XLA_FLAGS= make check` compiles as users do,
`JAX_ENABLE_COMPILATION_CACHE=0 make check` anew.
"""

import gc
import os
import tempfile
import threading
from pathlib import Path

from xla_flags import CHEAP, COMPILED

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", CHEAP)
# A program that can raise calls back to Python, for which JAX compiles it anew each time: Equinox
# and Diffrax give NaN instead.
os.environ.setdefault("EQX_ON_ERROR", "nan")
# One small kernel does not need a pool of compilers, each of which imports torch, and the next run
# finds it made.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
os.environ.setdefault(
    "TORCHINDUCTOR_CACHE_DIR", str(Path(__file__).parent.parent / ".cache" / "torch")
)

import jax
import numpy as np
import pytest
import torch
from autograd.tracer import trace_stack


def _keep_what_is_compiled():
    """In this process, a worker's too.

    A program that a test starts compiles for itself, as a user's does.

    JAX warns of an entry that it cannot read, which pyproject.toml ignores, and a program under `-W
    error` would fail for it.
    """
    try:
        COMPILED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=COMPILED):
            pass
    except OSError:  # a checkout that is read only: everything is compiled anew
        return
    jax.config.update("jax_compilation_cache_dir", str(COMPILED))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _share_contexts():
    """JAX makes an MLIR context for each program, which takes a third of its time for programs as
    small as these.
    """
    from jax._src.interpreters import mlir

    made, make = threading.local(), getattr(mlir, "make_ir_context", None)
    if make is None:  # JAX's own affair, and another release's may be another
        return

    def shared():
        if not hasattr(made, "context"):  # a context is not for several threads
            made.context = make()
        return made.context

    mlir.make_ir_context = shared


if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    _keep_what_is_compiled()
if os.environ["XLA_FLAGS"] == CHEAP:
    _share_contexts()
torch.set_num_threads(1)
# The million objects of four engines are looked through in no collection: tests of what is kept
# alive make many.
gc.collect()
gc.freeze()


def _state():
    """What every test leaves as it was. The law `state_untouched` looks at more."""
    return {
        "jax x64": jax.config.jax_enable_x64,
        "torch grad mode": torch.is_grad_enabled(),
        "torch inference mode": torch.is_inference_mode_enabled(),
        "torch default dtype": torch.get_default_dtype(),
        "autograd trace depth": trace_stack.top,
        "numpy error state": np.geterr(),
    }


@pytest.fixture(autouse=True)
def _global_state_is_kept():
    before = _state()
    with np.errstate():  # so that one test that changes it does not fail those after it
        yield
        after = _state()
    assert after == before


@pytest.fixture(scope="session")
def backend(adinterface_backend):
    """Each installed backend in turn, by a shorter name."""
    return adinterface_backend
