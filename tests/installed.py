"""A distribution that pip installs into a folder, and programs that run beside it."""

import shutil

from forked import python


def installed(source, folder):
    """Installs a distribution from its source.

    Returns what runs Python beside it, warnings being errors, and gives what it printed.
    """
    shutil.copytree(source, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    options = "--quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation"
    target = [*options.split(), "--target", str(folder / "site"), str(folder / "source")]
    python("-m", "pip", "install", *target)

    def program(*arguments):
        return python("-W", "error", *arguments, path=folder / "site").stdout

    return program
