"""The Array API standard for engines that have only a NumPy-like module.

It may import core. `ComposedNamespace` is the public name; an engine gives its functions, and the rest is composed and checked.
"""

from .composed import ComposedNamespace

__all__ = ["ComposedNamespace"]
