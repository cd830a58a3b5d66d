"""The finite-difference engine of adinterface."""

from .backend import FiniteDifferencesBackend

__all__ = ["FiniteDifferencesBackend"]
