"""A distribution that pip installs into a folder, and programs that run beside it."""

import os
import shutil
import subprocess
import sys


def installed(source, folder):
    """Installs a distribution from its source.

    Returns what runs Python beside it, warnings being errors, and gives what it printed.
    """
    shutil.copytree(source, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    options = "--quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation"
    target = [*options.split(), "--target", str(folder / "site"), str(folder / "source")]
    _run([sys.executable, "-m", "pip", "install", *target], os.environ)

    def program(*arguments):
        paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        return _run([sys.executable, "-W", "error", *arguments], environment)

    return program


def _run(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
