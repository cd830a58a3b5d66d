"""Programs in processes of their own, and functions in processes that start at once."""

import multiprocessing.forkserver
import os
import subprocess
import sys
import textwrap
from unittest import mock

from xla_flags import COMPILED

#: An engine takes longer to load than most tests of several processes.
_ENGINES = [f"adinterface_{name}" for name in ("autograd", "finite", "jax", "torch")]
#: For JAX, which reads it once.
_FIND_WHAT_IS_COMPILED = {
    "JAX_COMPILATION_CACHE_DIR": str(COMPILED),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def python(*arguments, path="", status=0, folder=None, **environment):
    """`python *arguments` in a fresh process, with what it wrote as text.

    path: goes in front of PYTHONPATH. Raises AssertionError, with what it wrote, if it does not end
    with this status.
    """
    paths = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def printed(program, **options):
    """What a program prints in a fresh process. Warnings are errors."""
    return python("-W", "error", "-c", textwrap.dedent(program), **options).stdout.strip()


def forkserver():
    """A context whose processes have imported every engine, from one import for all of this
    process's children.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_ENGINES)
    with mock.patch.dict(os.environ, _FIND_WHAT_IS_COMPILED):
        # before somebody else says what it should import
        multiprocessing.forkserver.ensure_running()
    return context
