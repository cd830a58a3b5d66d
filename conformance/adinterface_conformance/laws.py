"""The laws of derivatives, checked along random directions without closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from adinterface import hvp, pushforward

from .case import Case
from .trees import assert_close, floating, numbers_of

Vectors = list[Any]


def inner(a: Vectors, b: Vectors) -> float:
    """Re sum(conj(a) b)."""
    assert len(a) == len(b), f"{len(a)} leaves where {len(b)} are wanted"
    return float(sum(np.sum(np.real(np.conj(numbers_of(x)) * numbers_of(y))) for x, y in zip(a, b)))


def norm(a: Vectors) -> float:
    return float(np.sqrt(inner(a, a)))


def combined(p: float, a: Vectors, q: float, b: Vectors) -> Vectors:
    """p a + q b."""
    return [p * x + q * y for x, y in zip(a, b)]


def _assert_alike(got: Any, wanted: Any, size: float, case: Case, what: str) -> None:
    """Numbers that are sums of products of this size."""
    assert_close(got, wanted, what, 10 * case.rtol(), max(size, _floor(case)))


# First order
# ------------------------------------------------------------------------------------------------


def adjointness(case: Case) -> None:
    parts = case.run()
    if "gradient" in parts:
        v, w, pulled = case.direction("v"), [np.ones(())], floating(parts["gradient"])
        tangent = _push(case, v)[:1]
    elif "back" in parts:
        v, w, pulled = case.direction("v"), case.seed_leaves(), floating(parts["back"])
        tangent = _push(case, v)
    else:
        v, w = case.direction("v"), case.codirection("w")
        pulled = _back(case, w)
        if "jacobian" in parts:
            tangent = jacobian_times(case, parts["jacobian"], v)
        elif "derivative" in parts:
            v, tangent = [np.ones_like(leaf) for leaf in case.point], floating(parts["derivative"])
        else:
            v, tangent = (
                case.tangent_leaves(),
                floating(parts["push" if "push" in parts else "tangent"]),
            )
    size = norm(tangent) * norm(w) + norm(v) * norm(pulled)
    _assert_alike(
        inner(tangent, w), inner(v, pulled), size, case, "<push(v), w> against <v, back(w)>"
    )


def _push(case: Case, v: Vectors) -> Vectors:
    if "push" in case.forms:
        return floating(case.linearize().push(*case.as_tangents(v)))
    args, kwargs = case.arguments.args, case.scenario.kwargs
    return floating(
        pushforward(case.scenario.f, case.backend, args, case.as_tangents(v), **kwargs).tangent
    )


def _back(case: Case, w: Vectors) -> Vectors:
    return floating(case.pullback().back(case.as_cotangent(w)))


def jacobian_times(case: Case, jacobian: Any, v: Vectors) -> Vectors:
    """J v, where real values of complex arguments have their rows in the gradient convention."""
    blocks = floating(jacobian)
    assert len(blocks) == len(case.outputs(case.point)) * len(v), (
        f"the Jacobian has {len(blocks)} blocks"
    )
    products: Vectors = []
    for k, y in enumerate(case.outputs(case.point)):
        total = np.zeros_like(y)
        for block, x in zip(blocks[k * len(v) :], v):
            assert block.shape == y.shape + x.shape, (
                f"a block has the shape {block.shape}, wanted {y.shape + x.shape}"
            )
            if np.iscomplexobj(x) and not np.iscomplexobj(y):
                total = total + np.real(np.tensordot(np.conj(block), x, x.ndim))
            else:
                total = total + np.tensordot(block, x, x.ndim)
        products.append(total)
    return products


def linearity(case: Case) -> None:
    parts = case.run()
    p, q = 0.75, -1.5
    apply: Callable[[Case, Vectors], Vectors]
    # What the operator itself has applied the map to, and what came of it.
    if "back" in parts:
        apply, a, b = _back, case.codirection("a"), case.codirection("b")
        known, image = case.seed_leaves(), floating(parts["back"])
    elif "push" in parts:
        apply, a, b = _push, case.direction("a"), case.direction("b")
        known, image = case.tangent_leaves(), floating(parts["push"])
    else:
        apply, a, b = _hessian_times, case.direction("a"), case.vector_leaves()
        known, image = b, floating(parts["hvp"])
    first, second = apply(case, a), image if b is known else apply(case, b)
    mixed = apply(case, combined(p, a, q, b))
    size = norm(first) + norm(second)
    for n, (got, x, y) in enumerate(zip(mixed, first, second)):
        _assert_alike(got, p * x + q * y, size, case, f"map({p} a + {q} b), leaf {n}")
    if b is not known:
        for n, (got, wanted) in enumerate(zip(apply(case, known), image)):
            _assert_alike(got, wanted, norm(image), case, f"the map applied again, leaf {n}")


def _floor(case: Case) -> float:
    """The least scale of an error: the size of f for differences, and of the terms where terms
    cancel.
    """
    return case.scale({}) or 1e-3


#: As many as there are rows in a Jacobian of some size: engines cut stacks into pieces.
ROWS = 40


def stacks(case: Case) -> None:
    back = "back" in case.forms
    pair = [case.codirection(name) if back else case.direction(name) for name in ("a", "b")]
    # No two rows are alike, and two calls of the map say what all of them give.
    factors = [1 + n / 8 for n in range(ROWS)]
    rows = [[factor * x for x in pair[n % 2]] for n, factor in enumerate(factors)]
    if back:
        stacked = floating(case.pullback().back.stacked(case.stacked_cotangent(rows)))
    else:
        stacked = floating(case.linearize().push.stacked(*case.stacked_tangents(rows)))
    images = [_back(case, x) if back else _push(case, x) for x in pair]
    assert len(stacked) == len(images[0]), (
        f"{len(stacked)} leaves where {len(images[0])} are wanted"
    )
    for n, got in enumerate(stacked):
        wanted = np.stack([factor * images[m % 2][n] for m, factor in enumerate(factors)])
        _assert_alike(got, wanted, norm([wanted]), case, f"the stack, leaf {n}")


# Second order
# ------------------------------------------------------------------------------------------------


def _hessian_times(case: Case, v: Vectors) -> Vectors:
    x, *constants = case.arguments.args
    return floating(
        hvp(
            case.scenario.f,
            case.backend,
            x,
            case.as_tangents(v)[0],
            *constants,
            **case.scenario.kwargs,
        )
    )


def hessian_matrix(case: Case, hessian: Any) -> Any:
    """The Hessian as a matrix over all numbers of x."""
    blocks, sizes = floating(hessian), [leaf.size for leaf in case.point]
    count = len(sizes)
    assert len(blocks) == count**2, f"the Hessian has {len(blocks)} blocks, wanted {count**2}"
    for n, block in enumerate(blocks):
        wanted = sizes[n // count] * sizes[n % count]
        assert block.size == wanted, (
            f"block {n} of the Hessian has {block.size} numbers, wanted {wanted}"
        )
    rows = [
        [blocks[i * count + j].reshape(sizes[i], sizes[j]) for j in range(count)]
        for i in range(count)
    ]
    return np.block(rows)


def symmetry(case: Case) -> None:
    parts = case.run()
    if "hessian" in parts:
        matrix = hessian_matrix(case, parts["hessian"])
        size = float(np.max(np.abs(matrix), initial=0.0))
        _assert_alike(matrix, matrix.T, size, case, "the Hessian against its transpose")
        return
    v, u = case.vector_leaves(), case.direction("u")
    product, other = floating(parts["hvp"]), _hessian_times(case, u)
    size = norm(u) * norm(product) + norm(v) * norm(other)
    _assert_alike(inner(u, product), inner(v, other), size, case, "<u, Hv> against <v, Hu>")


# Taylor
# ------------------------------------------------------------------------------------------------


class Model(NamedTuple):
    """The change of f that a derivative predicts, along weighted directions, over h, or h^2 for
    second order.
    """

    order: int
    directions: list[tuple[float, Vectors]]
    derivative: Vectors
    #: What is looked at of f's outputs.
    seen: Callable[[Vectors], Vectors] = lambda outputs: outputs
    #: The name of the random direction among the directions.
    along: str = ""


def _slope(case: Case, got: Any, name: str, w: Vectors) -> Iterator[Model]:
    v = case.direction(name)
    yield Model(
        1,
        [(1.0, v)],
        [np.asarray(inner(floating(got), v))],
        lambda outputs: [np.asarray(inner(w, outputs))],
        name,
    )


def _of_gradient(case: Case, got: Any, name: str) -> Iterator[Model]:
    return _slope(case, got, name, [np.ones(())])


def _of_back(case: Case, got: Any, name: str) -> Iterator[Model]:
    return _slope(case, got, name, case.seed_leaves())


def _of_tangent(case: Case, got: Any, name: str) -> Iterator[Model]:
    yield Model(1, [(1.0, case.tangent_leaves())], floating(got))


def _of_jacobian(case: Case, got: Any, name: str) -> Iterator[Model]:
    v = case.direction(name)
    yield Model(1, [(1.0, v)], jacobian_times(case, got, v), along=name)


def _of_derivative(case: Case, got: Any, name: str) -> Iterator[Model]:
    yield Model(1, [(1.0, [np.ones_like(leaf) for leaf in case.point])], floating(got))


def _of_second_derivative(case: Case, got: Any, name: str) -> Iterator[Model]:
    yield Model(2, [(1.0, [np.ones_like(leaf) for leaf in case.point])], floating(got))


def _of_hvp(case: Case, got: Any, name: str) -> Iterator[Model]:
    """The Hessian product times another direction, by polarization: 4 u H v = (u + v) H (u + v) -
    (u - v) H (u - v).
    """
    u, v = [
        [numbers_of(x) for x in leaves] for leaves in (case.direction(name), case.vector_leaves())
    ]
    directions = [(0.25, combined(1.0, u, 1.0, v)), (-0.25, combined(1.0, u, -1.0, v))]
    yield Model(2, directions, [np.asarray(inner(u, floating(got)))], along=name)


def _of_hessian(case: Case, got: Any, name: str) -> Iterator[Model]:
    v = case.direction(name)
    flat = np.concatenate([np.ravel(x) for x in v]).astype("float64")
    yield Model(2, [(1.0, v)], [np.asarray(flat @ hessian_matrix(case, got) @ flat)], along=name)


def _of_diagonal(case: Case, got: Any, name: str) -> Iterator[Model]:
    """The number in the middle of each leaf."""
    diagonal = floating(got)
    for n, x in enumerate(case.point):
        if x.size:
            unit = [np.zeros_like(y) for y in case.point]
            unit[n][np.unravel_index(x.size // 2, x.shape)] = 1
            yield Model(2, [(1.0, unit)], [np.asarray(inner(unit, diagonal))])


def _of_value(case: Case, got: Any, name: str) -> Iterator[Model]:
    """A value is no derivative. The check `value` judges it."""
    return iter(())


#: What a field of a result says of f: from the case, the field, and the name of a random direction.
Models = Callable[[Case, Any, str], Iterator[Model]]
#: The models of each part, by its name.
MODELS: dict[str, Models] = {
    "value": _of_value,
    "gradient": _of_gradient,
    "back": _of_back,
    "tangent": _of_tangent,
    "push": _of_tangent,
    "jacobian": _of_jacobian,
    "derivative": _of_derivative,
    "second_derivative": _of_second_derivative,
    "hvp": _of_hvp,
    "hessian": _of_hessian,
    "diagonal_hessian": _of_diagonal,
}


def models_of(case: Case, part: str) -> Models:
    """The models of a field. Raises TypeError if no law knows the field."""
    if part not in MODELS:
        raise TypeError(
            f"{case.name}: no law knows the field {part!r} of its result. Add the field to MODELS"
            " in conformance/adinterface_conformance/laws.py."
        )
    return MODELS[part]


#: The two steps, and how much smaller the error must be at the second: half of what the power
#: promises. A wrong
#: derivative leaves an error that falls as the step (or its square) alone.
STEPS = {1: (1e-3, 1e-4, 100 / 4), 2: (2e-2, 5e-3, 256 / 8)}


def taylor(case: Case) -> None:
    parts = case.run()
    point = [
        leaf.astype("complex128" if np.iscomplexobj(leaf) else "float64") for leaf in case.point
    ]
    base = case.outputs(point)
    epsilon = max((_epsilon(y) for y in case.differentiated_leaves_at(point)), default=0.0)
    for part, got in parts.items():
        for model in models_of(case, part)(case, got, "v"):
            length = max([_length(direction) for _, direction in model.directions], default=0.0)
            if length == 0.0:
                continue
            directions = [
                (weight, [numbers_of(x) / length for x in direction])
                for weight, direction in model.directions
            ]
            derivative = [numbers_of(x) / length**model.order for x in model.derivative]
            large, small, fall = STEPS[model.order]
            seen = model.seen(base)
            first, second = (
                _remainder(case, part, model, point, directions, derivative, step)
                for step in (large, small)
            )
            size = max(norm(seen), 1e-30)
            floor = (
                100 * epsilon * max(size, float(max(np.max(np.abs(y), initial=0.0) for y in base)))
            )
            allowed = (
                first / fall
                + floor
                + 10 * case.rtol() * small**model.order * max(norm(derivative), _floor(case))
            )
            assert second <= allowed, (
                f"{part}: along a random direction the error of the model is {first:.3g} at the"
                f" step {large:g} and {second:.3g} at {small:g}, wanted at most {allowed:.3g}"
            )


def _length(direction: Vectors) -> float:
    return max([float(np.max(np.abs(x), initial=0.0)) for x in direction], default=0.0)


def _remainder(
    case: Case,
    part: str,
    model: Model,
    point: Vectors,
    directions: list[tuple[float, Vectors]],
    derivative: Vectors,
    step: float,
) -> float:
    here = model.seen(case.outputs(point))
    assert len(derivative) == len(here), f"{part} has {len(derivative)} leaves, wanted {len(here)}"
    total = [-(step**model.order) * d for d in derivative]
    for weight, direction in directions:
        ahead = model.seen(case.outputs(combined(1.0, point, step, direction)))
        if model.order == 1:
            changes = [a - y for a, y in zip(ahead, here)]
        else:
            behind = model.seen(case.outputs(combined(1.0, point, -step, direction)))
            changes = [a - 2 * y + b for a, y, b in zip(ahead, here, behind)]
        total = [x + weight * change for x, change in zip(total, changes)]
    return norm(total)


def _epsilon(y: Any) -> float:
    return float(np.finfo(np.asarray(y).dtype).eps)
