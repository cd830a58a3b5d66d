"""The Array API standard for engines that have only a NumPy-like module.

It may import core. `ComposedNamespace` is the public name; it composes the functions that an engine
lacks. Engines import `for_engines`.
"""

from .composed import ComposedNamespace

__all__ = ["ComposedNamespace"]
