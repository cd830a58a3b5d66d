"""Objects of packages that run on several engines, and what to pass in their place: no engine alone could say it."""

from __future__ import annotations


def packages_of(value: object) -> set[str]:
    """The names of the packages that the class of the value and its bases are from."""
    return {base.__module__.partition(".")[0] for base in type(value).__mro__}


def advice(value: object) -> str | None:
    """What to pass in place of an object of such a package; None for anything else."""
    if "keras" not in packages_of(value):
        return None
    if hasattr(value, "stateless_call"):
        return (
            "A Keras model keeps its variables to itself. Differentiate a function of their values, which calls "
            "model.stateless_call(trainable, non_trainable, x), with trainable = [v.value for v in "
            "model.trainable_variables]."
        )
    return "Pass the value of a Keras variable, variable.value." if hasattr(value, "value") else None


__all__ = ["advice", "packages_of"]
