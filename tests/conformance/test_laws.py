"""Both modes of each engine, and the pullback of a composition, on random trees: what no check of the judge compares.

The inner product is the real one, <a, b> = Re sum(conj(a) b), over all leaves of a tree.
"""

import numpy as np
import pytest
from backends_table import assert_tree
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    array_namespace,
    hessian,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)

# torch says so of some complex functions in a batch; the numbers are right.
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop because we have not yet implemented the batching")

PLAIN = {"jax": AutoJax(), "torch": AutoTorch(), "autograd": AutoAutograd()}
PLAIN["finite"] = AutoFiniteDifferences(max_evaluations=16)  # the laws try functions that oscillate
each_backend = pytest.mark.parametrize("backend", PLAIN.values(), ids=PLAIN.keys())
each_engine = pytest.mark.parametrize("auto", [AutoJax, AutoTorch, AutoAutograd])


def law(backend, examples=6):
    """The same examples in every run; fewer on JAX, which compiles each operation anew for each shape."""
    jax = backend is AutoJax or isinstance(backend, AutoJax)
    return settings(
        max_examples=min(examples, 4) if jax else examples,
        phases=(Phase.generate,) if jax else (Phase.generate, Phase.shrink),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def first(backend):
    return 1e-6 if isinstance(backend, AutoFiniteDifferences) else 1e-10


# Trees ---------------------------------------------------------------------------------------------------------------


def leaves_of(tree):
    """The floating leaves of a tree of dicts, tuples and lists, in order."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [leaf for child in tree for leaf in leaves_of(child)]
    return [] if tree is None or isinstance(tree, (str, int)) else [tree]


def mapped(function, *trees):
    """`function` of the floating leaves of trees of one structure; None elsewhere."""
    tree = trees[0]
    if isinstance(tree, dict):
        return {key: mapped(function, *(t[key] for t in trees)) for key in tree}
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(function, *children) for children in zip(*trees))
    return None if tree is None or isinstance(tree, (str, int)) else function(*trees)


def random_like(tree, rng):
    """Random numbers in the place of each leaf: real for a real leaf, complex for a complex one."""

    def leaf(x):
        numbers = rng.uniform(-1, 1, np.shape(x))
        if np.iscomplexobj(x):
            numbers = numbers + 1j * rng.uniform(-1, 1, np.shape(x))
        return type(x)(numbers) if isinstance(x, (float, complex)) else np.asarray(numbers)

    return mapped(leaf, tree)


def inner(a, b):
    return float(sum(np.real(np.vdot(x, y)) for x, y in zip(leaves_of(a), leaves_of(b), strict=True)))


def norm(a):
    return np.sqrt(inner(a, a))


def combined(p, a, q, b):
    """p a + q b, for trees."""

    def leaf(x, y):
        return type(x)(p * x + q * y) if isinstance(x, (float, complex)) else np.asarray(p * x + q * y)

    return mapped(leaf, a, b)


def assert_close(actual, expected, rtol):
    """Trees whose difference is small against the larger of them (and 1)."""
    difference = norm(combined(1, actual, -1, expected))
    assert difference <= rtol * max(1.0, norm(expected)), (difference, actual, expected)


SHAPES = [(), (3,), (2, 3), (0,)]


@st.composite
def trees(draw, *, complex_too=True, nonempty=False):
    """A dict, a tuple or both, one in the other, of arrays and numbers, beside values without a gradient."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))

    def leaf():
        kind = draw(st.sampled_from(["real", "complex", "number"] if complex_too else ["real", "number"]))
        shape = () if kind == "number" else draw(st.sampled_from(SHAPES[:3] if nonempty else SHAPES))
        numbers = rng.uniform(-1.5, 1.5, shape)
        if kind == "number":
            return float(numbers)
        return np.asarray(numbers + 1j * rng.uniform(-1.5, 1.5, shape) if kind == "complex" else numbers)

    form = draw(st.sampled_from(["array", "dict", "tuple", "nested"]))
    if form == "array":
        return leaf()
    if form == "dict":
        return {"w": leaf(), 3: leaf()}
    if form == "tuple":
        return leaf(), leaf()
    return {"layers": [{"w": leaf(), "name": "first"}, {"w": leaf(), "size": 3}], "rest": (leaf(), None)}


# Functions: neutral, smooth, of any tree -----------------------------------------------------------------------------


def total(tree):
    """A number that depends on every leaf; complex if a leaf is."""
    result = 0.0
    for k, x in enumerate(leaves_of(tree)):
        xp = array_namespace(x)
        result = result + xp.sum(xp.sin(x) * (1.0 + 0.3 * k))
    return result


def elementwise(tree):
    return mapped(lambda x: array_namespace(x).sin(x) * x, tree)


def coupled(tree):
    t = total(tree)
    return {"t": t, "each": [x * t * 0.5 for x in leaves_of(tree)], "count": 3}


def not_holomorphic(tree):
    """Conjugates and moduli: real results of complex leaves."""

    def leaf(x):
        xp = array_namespace(x)
        return xp.real(x) * xp.cos(xp.imag(x)) if is_complex(x) else xp.exp(x * 0.5)

    moduli = [leaf(x) for x in leaves_of(tree)]
    conjugates = [array_namespace(x).conj(x) * x * x if is_complex(x) else x**3 for x in leaves_of(tree)]
    return moduli, {"conjugates": conjugates}


def scalar(tree):
    """A real number, not linear in anything."""
    t = total(tree)
    result = 0.3 * modulus(t)
    for x in leaves_of(tree):
        result = result + array_namespace(x).sum(modulus(x) * 0.5)
    return result + array_namespace(result).sin(result)


def modulus(x):
    if not is_complex(x):
        return x**2
    xp = array_namespace(x)
    return xp.real(x) ** 2 + xp.imag(x) ** 2


def is_complex(x):
    return not isinstance(x, float) and "complex" in str(x.dtype)


functions = st.sampled_from([elementwise, coupled, not_holomorphic, scalar])
seeds = st.integers(0, 2**16)

# First order ---------------------------------------------------------------------------------------------------------


@each_engine
def test_forward_is_reverse(auto):
    @law(auto, 6)
    @given(f=functions, x=trees(), seed=seeds)
    def check(f, x, seed):
        rng = np.random.default_rng(seed)
        forward, reverse = auto(mode="forward"), auto(mode="reverse")
        v = random_like(x, rng)
        value, tangent = pushforward(f, forward, (x,), (v,))
        w = random_like(value, rng)
        assert_close(tangent, pushforward(f, reverse, (x,), (v,)).tangent, 1e-10)
        assert_close(pullback(f, forward, x).back(w), pullback(f, reverse, x).back(w), 1e-10)
        assert_tree(value_and_gradient(scalar, forward, x), value_and_gradient(scalar, reverse, x), 1e-10)

    check()


@each_engine
def test_forward_is_reverse_is_the_default_for_jacobians(auto):
    @law(auto, 6)
    @given(f=st.sampled_from([coupled, scalar]), x=trees(complex_too=False))
    def check(f, x):
        expected = value_and_jacobian(f, auto(mode="reverse"), x)
        assert_tree(value_and_jacobian(f, auto(mode="forward"), x), expected, 1e-10)
        assert_tree(value_and_jacobian(f, auto(), x), expected, 1e-10)

    check()


@each_backend
def test_the_pullback_of_a_composition_is_the_composition_of_pullbacks(backend):
    @law(backend, 6)
    @given(f=functions, g=functions, x=trees(), seed=seeds)
    def check(f, g, x, seed):
        between, back_f = pullback(f, backend, x)
        value, back_g = pullback(g, backend, between)
        whole, back = pullback(lambda x: g(f(x)), backend, x)
        assert_close(value, whole, 1e-12)
        w = random_like(value, np.random.default_rng(seed))
        assert_close(back_f(back_g(w)[0]), back(w), 10 * first(backend))

    check()


# Second order --------------------------------------------------------------------------------------------------------


@each_engine
def test_every_mode_gives_one_hessian(auto):
    @law(auto, 5)
    @given(x=trees(complex_too=False))
    def check(x):
        expected = hessian(scalar, auto(), x)
        for mode in ("forward", "reverse"):
            assert_tree(hessian(scalar, auto(mode=mode), x), expected, 1e-10)

    check()
