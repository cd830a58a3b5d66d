"""Objects of other packages, and what to pass in their place: no engine alone could say it."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, MappingView, Set

#: By package and an attribute of the class: what makes plain arrays or numbers of such an object x.
_PLAIN = (
    ("pandas", "__array__", "x.to_numpy()"),
    ("polars", "__array__", "x.to_numpy()"),
    ("xarray", "data_vars", "{name: x[name].data for name in x}"),
    ("xarray", "data", "x.data"),
    ("scipy", "toarray", "x.toarray()"),
    ("pint", "magnitude", "x.magnitude"),
    ("astropy", "value", "x.value"),
    ("unyt", "value", "x.value"),
    ("uncertainties", "nominal_value", "x.nominal_value"),
    ("dask", "compute", "x.compute()"),
    ("cupy", "get", "x.get()"),
    ("tensorflow", "numpy", "x.numpy()"),
)


def packages_of(value: object) -> set[str]:
    """The names of the packages that the class of the value and its bases are from."""
    return {base.__module__.partition(".")[0] for base in type(value).__mro__}


def plain(value: object) -> str | None:
    """The expression that makes plain arrays, numbers or lists of such an x; or None."""
    if isinstance(value, (Set, MappingView, Generator, deque)):
        return "list(x)"
    packages, cls = packages_of(value), type(value)
    return next(
        (made for package, name, made in _PLAIN if package in packages and hasattr(cls, name)), None
    )


def advice(value: object) -> str | None:
    """What to pass in place of such an object; None for anything else."""
    made, packages = plain(value), packages_of(value)
    if "keras" in packages and hasattr(value, "stateless_call"):
        return (
            "A Keras model keeps its variables to itself. Differentiate a function of their values,"
            " which calls model.stateless_call(trainable, non_trainable, x), with trainable ="
            " [v.value for v in model.trainable_variables]."
        )
    if "keras" in packages and hasattr(value, "value"):
        return "Pass the value of a Keras variable, variable.value."
    if "flax" in packages and hasattr(value, "unbind"):
        return (
            "A bound module of Flax holds its variables: module, variables = bound.unbind()."
            " Differentiate a function of the variables, which calls module.apply(variables, x)."
        )
    if made == "x.toarray()":
        return (
            f"Pass {made}, or Constant(x) with adinterface.scipy.sparse.product(x, v) in f in place"
            " of x @ v."
        )
    return None if made is None else f"Pass {made}, in Constant(...) if it is not differentiated."
