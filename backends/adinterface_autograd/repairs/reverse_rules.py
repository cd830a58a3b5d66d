"""Our reverse rules: where autograd's are wrong, or fail for arguments that NumPy takes.

Most are compositions: NumPy's function written in the functions of the namespace, which are right.
The composition is traced once more, at the values of the call, and differentiated; so the rule is
right at every order. A rule is called as autograd calls its own: `rule(argnums, answer, args,
kwargs)` returns the function from the cotangent of the answer to those of the arguments. `answer`
and `args` may hold boxes of outer traces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode, primitive_vjps
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.util import func

from . import functions, given, linalg
from .box import Box
from .functions import primitive_of, shape_of, value
from .traces import backward, new_trace, node_of

Rule = Callable[..., Any]
#: Whether autograd's rule is right for a call: `usual(args, kwargs)`.
Usual = Callable[[Sequence[Any], dict[str, Any]], bool]


class _Rules(dict[Any, Rule | None]):
    """The rule of each primitive for which we have one; None for the others, once they were met.

    SciPy takes long to import, so its functions are known by name, and found when a program that
    has them calls them.
    """

    def __missing__(self, fun: Any) -> Rule | None:
        function = getattr(fun, "fun", fun)  # which autograd's primitive calls
        of_scipy = getattr(function, "__module__", "").startswith("scipy.linalg.")
        rule = self[fun] = _OF_SCIPY.get(function.__name__) if of_scipy else None
        return rule


RULES = _Rules()


def _traced(composition: Callable[..., Any]) -> Rule:
    """The rule of a function, from a composition that computes it, too."""

    def rule(
        argnums: Sequence[int], answer: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        arguments = list(args)
        roots = [VJPNode.new_root() for _ in argnums]
        with new_trace() as trace:
            for n, root in zip(argnums, roots):
                arguments[n] = Box(arguments[n], trace, root)
            result = composition(*arguments, **kwargs)
            several = isinstance(result, (list, tuple))
            ends = [node_of(part, trace) for part in (result if several else (result,))]

        def back(cotangent: Any) -> list[Any]:
            parts = cotangent if several else (cotangent,)
            result = backward([(end, part) for end, part in zip(ends, parts) if end is not None])
            return [
                result[root] if root in result else functions.zeros_like(args[n])
                for n, root in zip(argnums, roots)
            ]

        return back

    return rule


def unless(usual: Usual, own: Rule, rule: Rule) -> Rule:
    """autograd's own rule for usual calls, ours for others. Both modes end with `args, kwargs`."""
    return lambda *call: (own if usual(*call[-2:]) else rule)(*call)


def _replace(fun: Any, rule: Rule, usual: Usual) -> None:
    RULES[fun] = unless(usual, primitive_vjps[fun], rule)


def _composition(name: str) -> Callable[..., Any]:
    """NumPy's function of that name, in the functions of the namespace."""
    return lambda *args, **kwargs: given.composition(name)(*args, **kwargs)


# NumPy's functions
# ------------------------------------------------------------------------------------------------

for _name in (
    # Silently wrong: for stacks, negative axes, matrices that are not square, `where`, new axes;
    # prod is NaN at a zero.
    "kron", "cross", "diagonal", "repeat", "diag", "prod", "tile",
    # No rule: for matrices, several axes or other axes than the first, repeated counts, new axes,
    # bounds that are boxes.
    "outer", "sort", "roll", "trace", "rot90", "gradient", "broadcast_to", "clip",
    # No rule for odd lengths, and a wrong one for norm="forward".
    "fft.rfft", "fft.irfft", "fft.rfft2", "fft.irfft2", "fft.rfftn", "fft.irfftn",
):  # fmt: skip
    _function: Any = anp
    for _part in _name.split("."):
        _function = getattr(_function, _part)
    RULES[_function] = _traced(_composition(_name))
RULES[anp.full_like] = _traced(_composition("full_like"))  # a constant in autograd
# wrong with keepdims, and for infinity
RULES[primitive_of(anp.linalg.norm)] = _traced(_composition("linalg.norm"))
RULES[primitive_of(anp.where)] = _traced(functions.where)  # wrong for choices that are broadcast


def _reduces(*known: str) -> Usual:
    """Reductions with these keywords alone: not `where`, `correction` or a third argument."""

    def usual(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        return len(args) <= 2 and (not kwargs or kwargs.keys() <= frozenset(known))

    return usual


for _name, _function, _known in (
    ("sum", anp.sum, ("axis", "keepdims", "dtype")),
    ("mean", primitive_of(anp.mean), ("axis", "keepdims")),
    ("max", anp.max, ("axis", "keepdims")),
    ("max", anp.amax, ("axis", "keepdims")),
    ("min", anp.min, ("axis", "keepdims")),
    ("min", anp.amin, ("axis", "keepdims")),
    ("var", primitive_of(anp.var), ("axis", "ddof", "keepdims")),
    ("std", primitive_of(anp.std), ("axis", "ddof", "keepdims")),
):
    _replace(_function, _traced(_composition(_name)), _reduces(*_known))


def _joined(axis: int | None, *parts: Any) -> Any:
    return functions.concat(parts, axis=axis)


_replace(anp.concatenate_args, _traced(_joined), lambda args, kwargs: args[0] is not None)


def _einsum_is_plain(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether no operand repeats an index, and all axes with one index have one length."""
    if not isinstance(args[0], str):
        return True
    terms = args[0].partition("->")[0].replace(" ", "").split(",")
    if any(len(set(term) - {"."}) < len(term.replace(".", "")) for term in terms):
        return False
    lengths: dict[str, set[int]] = {}
    for term, x in zip(terms, args[1:]):
        before, _, after = term.partition("...")
        shape = shape_of(x)
        for letter, length in [*zip(before, shape), *zip(reversed(after), reversed(shape))]:
            lengths.setdefault(letter, set()).add(length)
    return all(len(each) == 1 for each in lengths.values())


_replace(anp.einsum, _traced(_composition("einsum")), _einsum_is_plain)


def _as_autograd_takes(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Not a list of booleans, of which autograd makes integers, nor an index of a number."""
    x, index = args
    return x.shape != () and (type(index) is not list or not index or type(index[0]) is not bool)


def _taken(x: Any, index: Any) -> Any:
    if x.shape != ():
        return x[np.asarray(index)]
    result = np.zeros(())[index]
    return anp.reshape(x, result.shape) if result.size else anp.zeros(result.shape, x.dtype)


_getitem = func(ArrayBox.__getitem__)
_replace(_getitem, _traced(_taken), _as_autograd_takes)


def _partitioned(x: Any, kth: Any, axis: int | None = -1, *unused: Any, **options: Any) -> Any:
    x, axis = (anp.ravel(x), 0) if axis is None else (x, axis)
    return _composition("take_along_axis")(
        x, np.argpartition(value(x), kth, axis, **options), axis=axis
    )


RULES[anp.partition] = _traced(_partitioned)


def _array(arguments: Any, options: Any, *parts: Any) -> Any:
    made = np.array([value(part) for part in parts], *arguments, **options)
    return anp.reshape(functions.astype(functions.stack(parts), made.dtype), made.shape)


_replace(anp.array_from_args, _traced(_array), lambda args, kwargs: not args[0] and not args[1])


def pads_with_constants(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return len(args) > 2 and args[2] == "constant"  # autograd's rule requires it by position


_replace(anp.pad, _traced(_composition("pad")), pads_with_constants)


def _transpose(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule treats negative axes wrongly."""
    axes = args[1] if len(args) > 1 else kwargs.get("axes")
    back = None if axes is None else np.argsort([axis % len(axes) for axis in axes])
    return lambda g: (anp.transpose(g, back),)


RULES[anp.transpose] = _transpose


def _divide(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule divides by y**2, which over- and underflows where x / y does not."""
    x, y = args
    backs = [
        unbroadcast_f(y, lambda g: -(g / y) * answer) if n else unbroadcast_f(x, lambda g: g / y)
        for n in argnums
    ]
    return lambda g: [back(g) for back in backs]


RULES[anp.true_divide] = RULES[anp.divide] = _divide


def _choose(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd multiplies the branch not chosen by zero, which is nan where it is infinite."""

    def share(n: int) -> Any:
        mine, other = value(args[n]) == value(answer), value(args[1 - n]) == value(answer)
        return unbroadcast_f(
            args[n], lambda g: anp.where(mine, anp.where(other, g / 2, g), np.zeros_like(value(g)))
        )

    backs = [share(n) for n in argnums]
    return lambda g: [back(g) for back in backs]


RULES[anp.maximum] = RULES[anp.minimum] = RULES[anp.fmax] = RULES[anp.fmin] = _choose


# Matrices
# ------------------------------------------------------------------------------------------------


def _is_real(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return not np.iscomplexobj(value(args[0]))


def _cholesky(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule does not conjugate."""
    back = linalg.complex_cholesky_vjp(answer, *args)
    return lambda g: (back(g),)


_replace(anp.linalg.cholesky, _cholesky, _is_real)


def _slogdet(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd ignores that the sign of a complex determinant, on the unit circle, changes."""
    own = _AUTOGRADS_SLOGDET(argnums, answer, args, kwargs)
    sign = answer[0]

    def back(g: Any) -> tuple[Any]:
        (result,) = own(g)
        turned = anp.real(1j * g[0] * sign)
        return (
            result
            - 1j
            * anp.reshape(turned, (*shape_of(turned), 1, 1))
            * anp.swapaxes(anp.linalg.inv(args[0]), -1, -2),
        )

    return back


_AUTOGRADS_SLOGDET = primitive_vjps[anp.linalg.slogdet]
_replace(anp.linalg.slogdet, _slogdet, _is_real)


def _solved(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, **options: Any
) -> Any:
    import autograd.scipy.linalg as scipy_linalg

    diagonal = np.eye(shape_of(a)[-1], dtype=bool)
    return scipy_linalg.solve_triangular(
        functions.where(diagonal, 1.0, a) if unit_diagonal else a, b, trans=trans, lower=lower
    )


def _solve_triangular(argnums: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule reads the diagonal that `unit_diagonal` excludes."""
    import autograd.scipy.linalg as scipy_linalg

    unit = args[4] if len(args) > 4 else kwargs.get("unit_diagonal", False)
    rule = _traced(_solved) if unit else primitive_vjps[scipy_linalg.solve_triangular]
    return rule(argnums, answer, args, kwargs)


_OF_SCIPY: dict[str, Rule] = {"solve_triangular": _solve_triangular}
