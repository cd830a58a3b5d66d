"""Programs in processes of their own.

`python` runs the interpreter anew. The other two start at once, forked from a process which has
imported what all of them need: `forkserver()` is Python's own, for processes that are given
functions; `Forker` is for programs, whose output is read. `Forker(imports)` starts that process at
the first program, and ends it at its own end. It must have no thread but one, which `import jax` and
`import torch` leave it.
"""

import contextlib
import json
import multiprocessing.forkserver
import os
import runpy
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path
from typing import NamedTuple
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


class Done(NamedTuple):
    """What became of a program."""

    status: int
    output: str
    errors: str


class Forker:
    """Runs `python -m module *arguments` where `imports` are imported."""

    def __init__(self, *imports: str) -> None:
        self._imports = imports
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, folder: Path, module: str, *arguments: str) -> Done:
        """In this folder, with this process's environment of now, whose PYTHONPATH comes first on
        the path.
        """
        if self._process is None:
            command = [sys.executable, __file__, *self._imports]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        files = [folder / ".printed", folder / ".errors"]
        asked = [str(folder), module, [*arguments], dict(os.environ), [str(file) for file in files]]
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        status = json.loads(self._process.stdout.readline())
        texts = [file.read_text() for file in files]
        for file in files:
            file.unlink()
        return Done(status, *texts)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate("")
            self._process = None


def _serve(imports: list[str]) -> None:
    for name in imports:
        __import__(name)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _run(*json.loads(line))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(
    folder: str, module: str, arguments: list[str], environment: dict[str, str], files: list[str]
) -> None:
    """As the interpreter does it, and the end of this process."""
    status = 1
    try:
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        for number, name in enumerate(files, 1):
            with open(name, "w") as file:
                os.dup2(file.fileno(), number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(int(status))


if __name__ == "__main__":
    _serve(sys.argv[1:])
