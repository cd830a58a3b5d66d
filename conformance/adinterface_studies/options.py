"""The options that studies have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend
from adinterface.core.contract.registry import find


def parser(study: str, text: str | None) -> argparse.ArgumentParser:
    """A parser with the option `--backend`; a wrong value of it ends the process with status 2."""
    made = argparse.ArgumentParser(prog=f"python -m adinterface_studies {study}", description=text)
    made.add_argument(
        "--backend",
        action="append",
        default=[],
        type=_backend,
        metavar="VALUE",
        help="such as AutoTorch; may be repeated",
    )
    return made


def _backend(text: str) -> AutoBackend:
    try:
        return backend_from(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def backends(chosen: Sequence[AutoBackend], *, reverse: bool = False) -> list[AutoBackend]:
    """Those that are chosen, or else all that are installed.

    Reverse: and that have a reverse mode.
    """
    return [*chosen] or [
        each for each in installed_backends() if not reverse or "pullback" in find(each).gives
    ]


def compiles(backend: AutoBackend) -> bool:
    """Whether a prepared call of it is compiled."""
    return bool(getattr(backend, "jit", False) or getattr(backend, "compile", False))
