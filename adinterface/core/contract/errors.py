"""The errors and warnings. A message says what is wrong, what was found, and what to do."""

from __future__ import annotations

import sys


class AdinterfaceError(Exception):
    """Base class of this package's errors; each also derives from a built-in one."""


class NotDifferentiableError(AdinterfaceError, TypeError):
    """No argument of the call has a gradient, or one could not be found where it must be."""


class OutputError(AdinterfaceError, TypeError):
    """f returned something that the operator cannot differentiate."""


class PrecisionError(AdinterfaceError, TypeError):
    """A dtype would have to be narrowed, or the numbers would be noise."""


class ConversionError(AdinterfaceError, TypeError):
    """A leaf cannot be converted for the chosen engine."""


class TreeError(AdinterfaceError, ValueError):
    """A tree has another structure, shape or dtype than the one it must match."""


class BackendError(AdinterfaceError, TypeError):
    """The backend argument is not a backend, or the backend cannot do this."""


class NotRecordedError(BackendError):
    """The engine did not record a part of a second derivative, such as a custom backward."""


class MissingEngineError(AdinterfaceError, ImportError):
    """The engine of a backend is not installed."""


class RuleError(AdinterfaceError, TypeError):
    """A derivative that a user gave for a function does not fit the function."""


class NumpyCodeError(AdinterfaceError, TypeError):
    """NumPy code, inside `numpy_function`, that cannot work on an engine's arrays."""


class SparsityError(AdinterfaceError, ValueError):
    """A pattern does not fit, cannot be found, or has no place for an entry."""


class DenseJacobianWarning(UserWarning):
    """A dense Jacobian was computed that is almost all zeros."""


class DisconnectedWarning(UserWarning):
    """The output of f does not depend on any differentiated argument: every gradient is zero."""


class PrecisionWarning(UserWarning):
    """A derivative is less exact than it should be, by its engine's own estimate."""


class ClosedFormWarning(UserWarning):
    """NumPy code finds a result by comparisons alone, on which its derivative does not depend."""


def an(words: str) -> str:
    """The words with their article."""
    vowel = words[0].lower() in "aeiou" and not words.lower().startswith(("uni", "us"))
    return f"{'an' if vowel else 'a'} {words}"


def levels_to_the_user(*packages: str) -> int:
    """The `stacklevel` at which the caller's warning points at the user's line.

    That is the innermost line outside of this package and of the named packages, such as an engine
    that called back.
    """
    level, frame = 0, sys._getframe(1)
    inside = {"adinterface", *packages}
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    return level + 1
