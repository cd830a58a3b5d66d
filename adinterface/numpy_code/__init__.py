"""`numpy_function`: plain NumPy code on any engine.

An extension: it may import the contract and `tree`, and names neither engines nor operators.
Engines import `for_engines`. `deep`, which is experimental, has an entry of its own: nothing
imports its inner modules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import NUMPY, PYTHON, Library
from ..core.contract.tracing import untraced
from ..core.support.ambient import CORE, now, within
from ..core.support.record import active_record
from ..core.tree import Constant, Leaf, Node, Structure, flatten, handler_of, register_stand_in
from .array import NumpyArray, wrap
from .engine import Engine, engine_of
from .gaps import with_nan
from .refusals import of_others, the_call
from .storage import ARGUMENT, MADE
from .storage import PYTHON as OF_PYTHON

#: What `explain` says of a copy of f.
_COST = (
    "numpy_function(deep=True): each operation of f on single numbers takes tens of microseconds;"
    " with few of them to differentiate, `tools.choose` shows whether differences take less"
)

P = ParamSpec("P")
T = TypeVar("T")


@overload
def numpy_function(f: Callable[P, T], /, *, deep: bool = False) -> Callable[P, T]: ...
@overload
def numpy_function(*, deep: bool = False) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def numpy_function(f: Any = None, /, *, deep: bool = False) -> Any:
    """Let a function that is written with NumPy alone run on the arrays of any engine.

    Inside, an engine's arrays implement NumPy's protocols: `np.tanh(x @ w)`, `x.sum(axis=0)`,
    `x[1:]`, `np.linalg.solve(a, b)`, `np.einsum(...)` and the ufuncs of `scipy.special` call the
    engine. NumPy arrays that f captures are constants. Arrays that f makes, such as `np.zeros(n)`
    and `x.copy()`, can be written to, by `a[i] = x[0]`, `+=`, `out=`, `np.add.at` and others, with
    NumPy's views; an f that writes runs as a copy in which NumPy's functions that make arrays are
    replaced. Code that cannot work raises NumpyCodeError, which says what to write
    instead: a write to an argument of f, `np.asarray` of a differentiated array, `float(x)`.

    f takes and returns trees, as operators do. A call with NumPy arrays and numbers alone (as in
    finite differences) runs f itself. Compiled code has no overhead of the wrappers.

    deep: experimental, because it reads Python's bytecode and uses private names of other packages.
    f, and the Python code that it calls, runs as a copy in which NumPy's names are replaced:
    functions, methods and classes of its own module, of SciPy and other packages, each copied at
    its first use. `np.asarray(x)`, `float(x)`, `math.sin(x)` and `isinstance(x, np.ndarray)` keep
    the gradient there. Nothing is changed outside of the copies. Compiled functions are not
    replaced, and refuse differentiated arrays by name. A differentiated number that f assigns to a
    global name is a plain one after the call.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, gradient, numpy_function
    >>> @numpy_function
    ... def energy(x):
    ...     return np.sum(np.tanh(x) ** 2)
    >>> gradient(energy, AutoFiniteDifferences(), np.zeros(2))
    (array([0., 0.]),)
    """

    if f is None:
        return functools.partial(numpy_function, deep=deep)
    if not callable(f):
        raise TypeError(
            f"numpy_function takes a function, not a {type(f).__name__}: write @numpy_function"
            " above its definition, or numpy_function(f)."
        )

    copy_for_call: Any = _UNASKED

    @functools.wraps(f)
    @untraced
    def on_any_engine(*args: Any, **kwargs: Any) -> Any:
        structure, leaves = flatten(Constant((args, kwargs)), "an argument")
        if all(leaf.library is NUMPY for leaf in leaves):
            return f(*args, **kwargs)
        nonlocal copy_for_call
        if copy_for_call is _UNASKED:
            # a late import: a program without writes need not load it
            from .deep import with_deep_names, with_making_names

            copy_for_call = with_deep_names(f) if deep else with_making_names(f)
        wrapped = [_wrapped(leaf, copy_for_call is not None) for leaf in leaves]
        args, kwargs = structure.build(iter(wrapped))
        with the_call() as (call, outermost):
            call.forget()
            if outermost and deep and (record := active_record()) is not None:
                record.costs.append(_COST)
            try:
                with within(CORE, now()._replace(wrap=_taken)):
                    result = (f if copy_for_call is None else copy_for_call())(*args, **kwargs)
                result = _unwrapped(
                    result, [x for x in wrapped if type(x) is NumpyArray] if call.gaps else []
                )
                # The code may have caught an error, and C code may have ignored it.
                if call.refused is not None and not _of_engine(result):
                    raise NumpyCodeError(call.refused)
            except Exception as error:
                if isinstance(error, NumpyCodeError):
                    raise
                # NumPy's error, for `a[0] = x[0]` into a plain array, or Python's, for a wrapper
                # in SciPy's C code, replaces the wrapper's own.
                replaced = isinstance(error, (ValueError, SystemError)) and isinstance(
                    error.__cause__, NumpyCodeError
                )
                said = str(error.__cause__) if replaced else of_others(error, deep)
                if said is not None:
                    raise NumpyCodeError(said) from error
                # SciPy has error classes of its own. C code may also call f again while the
                # wrapper's error is pending: CPython then may not find an attribute that is there.
                if call.refused is not None and call.refused not in getattr(error, "__notes__", ()):
                    error.add_note(call.refused)
                raise
            finally:
                kept = None
                if outermost and call.reached:
                    from .deep import with_numbers

                    kept = with_numbers(call.reached)
            if kept is not None:
                raise NumpyCodeError(kept)
            return result

    if deep:
        on_any_engine.asks_for_python_numbers = True  # type: ignore[attr-defined]
    return on_any_engine


def _wrapped(leaf: Leaf, writing: bool) -> Any:
    array = (
        NumpyArray(leaf.value, engine_of(leaf.library)) if leaf.library is not NUMPY else leaf.value
    )
    if (
        array.dtype.kind == "f"
        and array.ndim
        and leaf.library is not NUMPY
        and not array._traced()
        and np.any(np.isnan(array))
    ):
        array = np.array(leaf.library.to_numpy(leaf.value))  # data with gaps
    if type(array) is not NumpyArray and writing:
        from .made_array import captured

        return captured(array)
    if type(array) is not NumpyArray:
        return array
    if array.ndim or _is_one_of(leaf.value, now().zero_d):
        array.origin = ARGUMENT
    elif _is_one_of(leaf.value, now().numbers):
        array.origin = OF_PYTHON
    return array


def _is_one_of(x: Any, others: Sequence[Any]) -> bool:
    return any(x is other for other in others)


def _taken(result: Any) -> Any:
    """The result of an operator in the form for NumPy code."""
    library = handler_of(result, scan=False)
    of_engine = isinstance(library, Library) and library is not NUMPY and library is not PYTHON
    return wrap(result, engine_of(library)) if of_engine else result


def _unwrapped(result: Any, arguments: list[NumpyArray]) -> Any:
    """The engine's arrays in f's value, without wrappers.

    arguments: those of f, if it has computed with plain NaN.
    """
    if isinstance(result, NumpyArray):
        return (
            with_nan(result, arguments) if arguments and type(result) is NumpyArray else result
        ).native
    structure, leaves = flatten(Constant(result), "the result")
    values = [leaf.value for leaf in leaves]
    if arguments:
        wrapped = [
            (
                wrap(leaf.value, engine_of(leaf.library))
                if leaf.library not in (NUMPY, PYTHON)
                else None
            )
            for leaf in leaves
        ]
        values = [
            value if x is None else with_nan(x, arguments).native
            for value, x in zip(values, wrapped)
        ]
    return _without_wrappers(structure).build(iter(values))


def _of_engine(result: Any) -> bool:
    """Whether f's value holds an array of an engine."""
    _, leaves = flatten(Constant(result), "the result")
    return not all(leaf.library in (NUMPY, PYTHON) for leaf in leaves)


def _without_wrappers(structure: Structure) -> Structure:
    def unwrapped(node: Node, children: list[Structure]) -> Structure:
        wraps = isinstance(node.data, Engine) or node.data is MADE
        return children[0] if wraps else node.with_children(children)

    return structure.fold(lambda place: place, unwrapped)


_UNASKED = object()


# So that an operator can be called inside f: it sees the engine's array, and its results are
# wrapped again.
register_stand_in(
    NumpyArray,
    lambda x: ((x.native,), x.engine),
    lambda engine, children: wrap(children[0], engine),
)

__all__ = ["numpy_function"]
