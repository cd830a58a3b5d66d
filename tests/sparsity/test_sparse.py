"""`AutoSparse`: the same numbers as dense on every engine, in few products, and never an entry
less.
"""

import io
import pickle
import sys
from dataclasses import dataclass
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
import torch
from adinterface_studies.sparse_problems import PROBLEMS
from backends_table import BACKENDS, assert_told, each_backend, each_engine, rtol_of
from forked import printed
from jax.experimental.sparse import BCOO

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    BackendError,
    Constant,
    MissingEngineError,
    NotDifferentiableError,
    OutputError,
    PrecisionError,
    SecondOrder,
    SparsityError,
    array_namespace,
    explain,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    prepare,
    value_and_jacobian,
)
from adinterface.sparse import Colouring, SparsityPattern, sparsity
from adinterface.sparse.colouring import by_symmetry, choose, require_valid, symmetric

X = np.array([0.7, -1.3, 0.4, 2.1, 0.9, -0.6])


def chain(x):
    """Neighbours in a chain, and one row with everything."""
    xp = array_namespace(x)
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[1:] * x[:-1] + xp.sin(x[1:])])


def energy(x):
    xp = array_namespace(x)
    return xp.sum(x[1:] * x[:-1] ** 2) + xp.sum(xp.exp(x))


def dense(matrix):
    if isinstance(matrix, torch.Tensor):
        return matrix.to_dense().numpy()
    if scipy.sparse.issparse(matrix):
        return matrix.toarray()
    with jax.enable_x64(True):
        return np.asarray(matrix.todense())


def close(matrix, expected, backend):
    expected = np.asarray(expected)
    # The step of a compressed difference is that of all numbers which it moves.
    tolerance = 10 * rtol_of(backend) * max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(dense(matrix), expected, rtol=0, atol=tolerance)


# The same numbers
# ------------------------------------------------------------------------------------------------


@each_backend
@pytest.mark.parametrize("detect", ["trace", "probe"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_published_problems_are_as_dense(problem, detect, backend):
    x = problem.x(18)
    operator = hessian if problem.scalar else jacobian
    found, expected = (
        operator(problem.f, AutoSparse(backend, detect=detect), x),
        operator(problem.f, backend, x),
    )
    matrix, expected = (found, expected) if problem.scalar else (found[0], expected[0])
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.dtype == "float64"
    assert matrix.has_canonical_format
    if backend == BACKENDS["finite"] and problem.scalar:
        np.testing.assert_allclose(
            dense(matrix), expected, rtol=0, atol=1e-4 * np.abs(expected).max()
        )
    else:
        close(matrix, expected, backend)


@pytest.mark.parametrize(
    "backend",
    [
        AutoJax(mode="forward"), AutoJax(mode="reverse"), AutoJax(chunk_size=1),
        AutoTorch(mode="forward"), AutoTorch(mode="reverse"), AutoTorch(chunk_size=2),
        AutoAutograd(mode="forward"), AutoAutograd(mode="reverse"),
        AutoFiniteDifferences(native=AutoTorch()),
        SecondOrder(AutoFiniteDifferences(), AutoAutograd()),
    ],
    ids=str,
)  # fmt: skip
def test_modes_chunks_and_pairs_give_the_same(backend):
    for detect in ("trace", "probe"):
        (matrix,) = jacobian(chain, AutoSparse(backend, detect=detect), X)
        np.testing.assert_allclose(dense(matrix), jacobian(chain, AutoAutograd(), X)[0], atol=1e-8)
        found = hessian(energy, AutoSparse(backend, detect=detect), X)
        np.testing.assert_allclose(dense(found), hessian(energy, AutoAutograd(), X), atol=1e-4)


@each_engine
def test_forms(backend):
    expected = jacobian(chain, backend, X)[0]
    classes = {
        "csr": scipy.sparse.csr_array,
        "csc": scipy.sparse.csc_array,
        "coo": scipy.sparse.coo_array,
    }
    for form, cls in classes.items():
        (matrix,) = jacobian(chain, AutoSparse(backend, format=form), X)
        assert type(matrix) is cls
        close(matrix, expected, backend)
    (native,) = jacobian(chain, AutoSparse(backend, format="native"), X)
    own = {"jax": BCOO, "torch": torch.Tensor, "autograd": scipy.sparse.csr_array}
    assert isinstance(native, own[type(backend).name])
    assert str(native.dtype).endswith("float64")
    close(native, expected, backend)
    close(
        hessian(energy, AutoSparse(backend, format="native"), X),
        hessian(energy, backend, X),
        backend,
    )


# Arguments
# ------------------------------------------------------------------------------------------------


@dataclass
class Pair:
    left: object
    right: object


@each_backend
def test_trees_give_trees_of_blocks(backend):
    def f(p, scale):
        return {"sum": p.left + scale * p.right["w"], "square": p.left[0] ** 2}

    p = Pair(X, {"w": 2 * X, "name": "w"})
    sparse = AutoSparse(backend)
    value, blocks = value_and_jacobian(f, sparse, p, 3.0)
    plain_value, expected = value_and_jacobian(f, backend, p, 3.0)
    np.testing.assert_array_equal(value["sum"], plain_value["sum"])
    assert type(blocks["sum"][0]) is Pair
    assert blocks["sum"][0].right["name"] is None
    assert blocks["square"][0].left.shape == (1, 6)
    assert blocks["sum"][1].shape == (6, 1)
    for key, rows in (("sum", 6), ("square", 1)):
        close(blocks[key][0].left, expected[key][0].left.reshape(rows, 6), backend)
        close(blocks[key][0].right["w"], expected[key][0].right["w"].reshape(rows, 6), backend)
        close(blocks[key][1], np.reshape(expected[key][1], (rows, 1)), backend)


@each_backend
def test_numbers_and_empty_leaves(backend):
    (matrix,) = jacobian(lambda x: x * x, AutoSparse(backend), 3.0)
    assert matrix.shape == (1, 1)
    close(matrix, [[6.0]], backend)
    a, b = jacobian(lambda x, e: x * 2.0, AutoSparse(backend), X, np.zeros(0))
    assert (a.shape, b.shape) == ((6, 6), (6, 0))
    close(a, 2 * np.eye(6), backend)
    (none,) = jacobian(lambda x: x[:0], AutoSparse(backend), X)
    assert none.shape == (0, 6)
    assert hessian(lambda x: x * x * x, AutoSparse(backend), 2.0).shape == (1, 1)


def test_half_precision_is_native():
    (matrix,) = jacobian(lambda x: x * x, AutoSparse(AutoTorch(), format="native"), HALF)
    assert matrix.dtype == torch.bfloat16
    assert torch.equal(matrix.to_dense().diagonal(), 2 * HALF)


@each_backend
def test_complex_results_are_right(backend):
    def f(x):
        xp = array_namespace(x)
        return xp.exp(1j * x[1:]) * x[:-1] + xp.sum(x) * 0.5j

    (matrix,) = jacobian(f, AutoSparse(backend), X)
    assert matrix.dtype == "complex128"
    close(matrix, jacobian(f, backend, X)[0], backend)


# Detection
# ------------------------------------------------------------------------------------------------


NATIVE = {
    "jax": (
        AutoJax(),
        lambda x: jnp.concatenate([jnp.sum(x**2)[None], x[1:] * x[:-1] + jnp.sin(x[1:])]),
    ),
    "torch": (
        AutoTorch(),
        lambda x: torch.cat([(x**2).sum()[None], x[1:] * x[:-1] + torch.sin(x[1:])]),
    ),
}


@pytest.mark.parametrize(("backend", "f"), NATIVE.values(), ids=NATIVE)
def test_native_code_is_probed(backend, f):
    sparse = AutoSparse(backend)
    (matrix,) = jacobian(f, sparse, X)
    close(matrix, jacobian(chain, AutoAutograd(), X)[0], backend)
    assert matrix.nnz == 16


@pytest.mark.parametrize(
    "backend", [AutoAutograd(), AutoFiniteDifferences(), AutoJax(mode="reverse")], ids=str
)
def test_probing_at_a_special_point_misses_nothing(backend):
    sparse = AutoSparse(backend, detect="probe")
    assert sparsity(jacobian, lambda x: x[1:] * x[:-1], sparse, np.zeros(6)).nnz == 10
    assert (
        sparsity(jacobian, lambda x: array_namespace(x).exp(-(x**2)), sparse, np.zeros(4)).nnz == 4
    )
    # not finite below zero
    near = sparsity(jacobian, lambda x: array_namespace(x).sqrt(x), sparse, np.full(4, 1e-3))
    assert near.nnz == 4


def test_a_pattern_that_could_only_be_probed_at_the_arguments_is_checked_always():
    def f(x):
        numbers = x._value if hasattr(x, "_value") else x
        if np.any(np.asarray(numbers) % 1.0):
            raise ValueError("whole numbers only")
        return x[1:] * x[:-1] + x[1:]

    sparse = AutoSparse(AutoAutograd(), detect="probe")
    x = np.array([0.0, 2.0, 1.0, 0.0])
    fast = prepare(jacobian, f, sparse, x)
    np.testing.assert_allclose(fast(x)[0].toarray(), [[2, 1, 0, 0], [0, 1, 3, 0], [0, 0, 0, 2]])
    with pytest.raises(SparsityError, match="It was found at other arguments, near which f fails"):
        fast(np.array([1.0, 2.0, 3.0, 4.0]))  # where the entry that vanished does not
    report = explain(jacobian, f, sparse, x)
    assert any(
        "probed at the arguments alone, as f fails beside them" in step for step in report.steps
    )


def test_probing_takes_full_rows_whole_and_few_products():
    pushes = 0

    def f(x):
        nonlocal pushes
        pushes += 1
        return chain(x)

    n = 3000
    pattern = sparsity(jacobian, f, AutoSparse(AutoTorch(), detect="probe"), np.linspace(0.1, 1, n))
    assert pattern.nnz == n + 2 * (n - 1)
    assert pattern.colouring.passes == 3
    assert pushes < 10


def test_constants_and_keywords_are_not_taken_for_what_they_are_at_the_moment():
    def f(x, c, *, k):
        return c * x + k * x[::-1]

    fast = prepare(jacobian, f, AutoSparse(AutoAutograd()), X, Constant(0.0), k=np.zeros(6))
    close(fast(X, Constant(2.0), k=np.ones(6))[0], 2 * np.eye(6) + np.eye(6)[::-1], AutoAutograd())


@each_engine
def test_a_pattern_of_the_users_in_any_form(backend):
    expected = jacobian(chain, AutoAutograd(), X)[0]
    pattern = scipy.sparse.csr_array(expected != 0)
    forms = [
        pattern, pattern.tocsc(), pattern.tocoo(), pattern.tolil(), pattern.toarray(),
        SparsityPattern(pattern), torch.tensor(pattern.toarray()).to_sparse(),
        BCOO.fromdense(jnp.asarray(pattern.toarray())),
    ]  # fmt: skip
    autos = {AutoSparse(backend, pattern=form) for form in forms}
    assert len(autos) == 1
    evaluations = 0

    def f(x):
        nonlocal evaluations
        evaluations += 1
        return chain(x)

    close(jacobian(f, AutoSparse(backend, pattern=pattern, check=False), X)[0], expected, backend)
    assert evaluations <= 2


@each_engine
def test_patterns_are_kept_with_their_colouring(backend, tmp_path):
    pattern = sparsity(jacobian, chain, backend, X)
    pattern.save(tmp_path / "pattern.npz")
    again = SparsityPattern.load(tmp_path / "pattern.npz")
    assert again == pattern
    assert hash(again) == hash(pattern)
    assert str(again.colouring) == str(pattern.colouring) == "2 colours of columns and 1 full row"
    with mock.patch("adinterface.sparse.operators.choose", side_effect=AssertionError):
        close(
            jacobian(chain, AutoSparse(backend, pattern=again), X)[0],
            jacobian(chain, backend, X)[0],
            backend,
        )
    auto = AutoSparse(backend, pattern=again)
    assert pickle.loads(pickle.dumps(auto)) == auto
    assert pickle.loads(pickle.dumps(again)).colouring.passes == 3


def test_a_pattern_shows_itself(tmp_path):
    pattern = sparsity(jacobian, chain, AutoAutograd(), X)
    assert (
        repr(pattern)
        == "SparsityPattern(6 x 6, 16 entries, density 44.4 %, 2 colours of columns and 1 full row:"
        " 3 passes)"
    )
    assert repr(SparsityPattern(np.eye(3)[:1])) == "SparsityPattern(1 x 3, 1 entry, density 33.3 %)"
    import matplotlib as mpl

    with mpl.rc_context({"backend": "agg"}):
        import matplotlib.pyplot as plt

        axes = pattern.plot()
        assert axes.get_title().startswith("6 x 6, 16 entries")
        assert len(axes.collections[0].get_offsets()) == 16
        axes.figure.savefig(tmp_path / "pattern.png")
        plt.close(axes.figure)


# Prepared
# ------------------------------------------------------------------------------------------------


@each_backend
def test_prepared_calls_detect_colour_and_check_once(backend):
    evaluations = 0

    def f(x):
        nonlocal evaluations
        evaluations += 1
        return chain(x)

    fast = prepare(jacobian, f, AutoSparse(backend), X)
    close(fast(X)[0], jacobian(chain, backend, X)[0], backend)
    at_first, evaluations = evaluations, 0
    close(fast(X + 1)[0], jacobian(chain, backend, X + 1)[0], backend)
    # Adaptive differences take up to ten evaluations for each of the six seeds, and one at the
    # point.
    most = {"jax": 0, "torch": 1, "autograd": 1, "finite_differences": 10 * 6 + 1}[
        type(backend).name
    ]
    assert evaluations == most or (most > 1 and evaluations < most)
    assert at_first > evaluations
    close(fast(X[:4])[0], jacobian(chain, backend, X[:4])[0], backend)
    assert fast.specializations == 2
    again = pickle.loads(pickle.dumps(prepare(jacobian, chain, AutoSparse(backend), X)))
    close(again(X)[0], jacobian(chain, backend, X)[0], backend)


def test_inside_jax_transformations():
    sparse = AutoSparse(AutoJax(), format="native")
    product = jax.jit(lambda x, v: jacobian(chain, sparse, x)[0] @ v)
    with jax.enable_x64(True):
        expected = jacobian(chain, AutoAutograd(), X)[0] @ X
        np.testing.assert_allclose(product(jnp.asarray(X), jnp.asarray(X)), expected, rtol=1e-12)
    pattern = sparsity(jacobian, jnp.sin, AutoJax(), np.ones(3))
    given = AutoSparse(AutoJax(), format="native", pattern=pattern)
    found = jax.jit(lambda x: jacobian(jnp.sin, given, x)[0].data)(jnp.ones(3))
    np.testing.assert_allclose(found, np.cos(np.ones(3)), rtol=1e-6)


# Verification
# ------------------------------------------------------------------------------------------------


@each_backend
def test_a_wrong_pattern_is_found_and_the_rows_are_named(backend):
    sparse = AutoSparse(backend, pattern=np.eye(6))
    with pytest.raises(SparsityError) as refused:
        jacobian(chain, sparse, X)
    message = str(refused.value)
    assert message.startswith(
        "jacobian: the derivative has entries outside its pattern (given) in rows 0, 1, 2, 3, 4 and"
        " 1 more: along a random direction row 0 is "
    )
    assert message.endswith(
        "Leave pattern=... out to have it detected, or compare it with sparsity(...)."
    )
    unchecked = AutoSparse(backend, pattern=np.eye(6), check=False)
    assert jacobian(chain, unchecked, X)[0].nnz == 6
    with pytest.raises(
        SparsityError, match=r"hessian: the derivative has entries outside its pattern \(given\)"
    ):
        hessian(energy, AutoSparse(backend, pattern=np.eye(6)), X)


def test_a_wrong_pattern_is_found_in_reverse_mode():
    with pytest.raises(SparsityError, match="in columns 0, 1, 2"):
        jacobian(chain, AutoSparse(AutoJax(mode="reverse"), pattern=np.eye(6)), X)


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd(), AutoFiniteDifferences()], ids=str)
def test_a_pattern_that_changes_with_the_values_is_found_in_every_call(backend):
    def f(x):
        return x * x if x[0] > 0 else x * x[0]

    fast = prepare(jacobian, f, AutoSparse(backend), X)
    for _ in range(3):
        close(fast(X)[0], np.diag(2 * X), backend)
    with pytest.raises(SparsityError) as refused:
        fast(-X)
    assert "(trace at these values, because f branches on them)" in str(refused.value)
    assert str(refused.value).endswith(
        "f branches on values, and these lead another way: make the call without prepare, or pass a"
        " pattern=... that holds for every branch."
    )
    close(jacobian(f, AutoSparse(backend), -X)[0], jacobian(f, backend, -X)[0], backend)


@pytest.mark.parametrize(
    ("backend", "compiles"),
    [(AutoJax(), True), (AutoJax(jit=False), False), (AutoTorch(), False)],
    ids=str,
)
def test_check_always_and_first(backend, compiles):
    def f(x):
        xp = array_namespace(x)
        return xp.where(x > 0, x, xp.flip(x))

    first = prepare(jacobian, f, AutoSparse(backend, pattern=np.eye(6)), np.abs(X))
    always = prepare(jacobian, f, AutoSparse(backend, pattern=np.eye(6), check="always"), np.abs(X))
    never = prepare(jacobian, f, AutoSparse(backend, pattern=np.eye(6), check=False), np.abs(X))
    for fast in (first, always, never):
        fast(np.abs(X))
    for fast in (first, never) if compiles else (never,):
        assert fast(-np.abs(X))[0].nnz == 6
    for fast in (always,) if compiles else (first, always):
        with pytest.raises(SparsityError):
            fast(-np.abs(X))


def residuals(x):
    r = np.zeros(len(x))
    r[0] = x[0] - 1
    r[1:] = x[1:] * x[:-1]
    return r


def permuted(x):
    r, rest = np.zeros(6), np.empty(6)
    np.put(r, np.argsort(-x), x)
    np.multiply(r, x, out=rest)
    return rest


# What is told
# ------------------------------------------------------------------------------------------------


def rows(x):
    return np.reshape(x[2:], (2, 2))


NUMPY_CODE = {
    "residuals": (residuals, 11),
    "a permutation": (permuted, 12),
    "initial of a sum": (lambda x: np.sum(rows(x), axis=1, initial=x[0]), 6),
    "initial of a reduction": (lambda x: np.multiply.reduce(rows(x), axis=1, initial=x[0]), 6),
    "initial of nothing": (lambda x: np.sum(np.reshape(x[:0], (2, 0)), axis=1, initial=x[0]), 2),
    "mean of std": (lambda x: np.std(rows(x), axis=1, mean=np.reshape(x[:2], (2, 1))), 6),
}


@pytest.mark.parametrize("name", NUMPY_CODE)
@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd(), AutoJax()], ids=str)
def test_numpy_code_is_traced(name, backend):
    f, entries = NUMPY_CODE[name]
    found = jacobian(numpy_function(f), AutoSparse(backend, detect="trace"), X)[0]
    np.testing.assert_allclose(dense(found), jacobian(f, AutoFiniteDifferences(), X)[0], atol=1e-7)
    assert found.nnz == entries


def test_explain_says_how_the_pattern_was_found():
    report = explain(jacobian, chain, AutoSparse(AutoJax()), X)
    assert (
        report.steps[0]
        == "AutoJax: pattern: trace, whatever the values are; 6 x 6, 16 entries, 2 colours of"
        " columns and 1 full row"
    )
    made = (
        "AutoJax: 3 products with the Jacobian: 2 colours of columns and 1 full row; one more, to"
        " check them"
    )
    assert made in report.steps
    report = explain(hessian, lambda x: torch.sum(x**3), AutoSparse(AutoTorch()), X)
    (step,) = [step for step in report.steps if "pattern" in step]
    assert step.startswith(
        "AutoTorch: pattern: probed, because tracing met TypeError: sum(): argument 'input'"
    )


# Values
# ------------------------------------------------------------------------------------------------


def sorted_squares(x):
    return torch.sort(x).values ** 2


def another_file():
    file = io.BytesIO()
    np.savez(file, x=X)
    file.seek(0)
    return file


#: A call that is refused: the class of the error, and its words.
WRONG = {
    "detect": (lambda: AutoSparse(AutoJax(), detect="guess"), ValueError,
     "AutoSparse: detect must be 'auto', 'trace' or 'probe', not 'guess'..."),
    "format": (lambda: AutoSparse(AutoJax(), format="dense"), ValueError,
     "AutoSparse: format must be 'csr', 'csc', 'coo' or 'native', not 'dense'..."),
    "check": (lambda: AutoSparse(AutoJax(), check=True), ValueError,
     "AutoSparse: check must be 'first', 'always' or False, not True..."),
    "type of format": (lambda: AutoSparse(AutoJax(), format=3), ValueError,
     "AutoSparse: format must be 'csr', 'csc', 'coo' or 'native', not 3..."),
    "backend": (lambda: AutoSparse("jax"), BackendError, "AutoSparse: backend must be a backend, not 'jax'..."),
    "in a pair": (lambda: SecondOrder(AutoSparse(AutoJax()), AutoJax()), BackendError,
     "SecondOrder: outer cannot be AutoSparse, which stands outermost: ..."),
    "pattern": (lambda: AutoSparse(AutoJax(), pattern="csr"), TypeError,
     "SparsityPattern takes a sparse matrix or a dense 2-d array, not a str..."),
    "a vector": (lambda: AutoSparse(AutoJax(), pattern=np.ones(3)), ValueError,
     "SparsityPattern: a pattern is y.size x x.size, but this has shape (3,)..."),
    "entry": (lambda: SparsityPattern.of_entries([0], [2], (2, 2)), ValueError,
     "SparsityPattern: an entry stands outside the shape (2, 2)..."),
    "another file": (lambda: SparsityPattern.load(another_file()), ValueError,
     "SparsityPattern.load: ... holds no pattern; write one with pattern.save(path)."),
    "columns": (lambda: jacobian(chain, AutoSparse(AutoTorch(), pattern=np.ones((6, 5))), X), SparsityError,
     "...the pattern has shape (6, 5), but the differentiated arguments hold 6..."),
    "rows": (lambda: jacobian(chain, AutoSparse(AutoTorch(), pattern=np.ones((5, 6))), X), SparsityError,
     "jacobian: the pattern has shape (5, 6), but f has 6 outputs and 6 inputs..."),
    "square": (lambda: hessian(energy, AutoSparse(AutoTorch(), pattern=np.ones((5, 6))), X), SparsityError,
     "AutoSparse: a Hessian is square, but its pattern has shape..."),
    "colouring": (lambda: jacobian(chain, AutoSparse(AutoTorch(), pattern=WRONGLY_COLOURED), X), SparsityError,
     "...the colouring of this pattern puts two entries into one place..."),
    "dense": (lambda: hessian(lambda x: array_namespace(x).sum(x) ** 2, AutoSparse(AutoJax()), np.ones(20_000)), SparsityError,
     "AutoSparse: the Hessian of f, of 20000 inputs, would have up to 400000000 entries, so it is not sparse: something in f, such "
     "as the square of a sum, lets nearly all inputs meet. Use hvp, which needs no matrix."),
    "operator": (lambda: sparsity(gradient, energy, AutoJax(), X), TypeError,
     "sparsity: gradient gives no matrix. Pass jacobian or hessian."),
    "order": (lambda: sparsity(jacobian, AutoJax(), chain, X), TypeError,
     "sparsity: f must be a function, but is the backend AutoJax..."),
    "half": (lambda: jacobian(lambda x: x * x, AutoSparse(AutoTorch()), HALF), PrecisionError,
     "jacobian: SciPy has no sparse matrices of dtype bfloat16, and nothing is widened silently. Take the engine's own, "
     'AutoSparse(..., format="native"), or convert the leaf to float32 or float64.'),
    "complex": (lambda: jacobian(lambda z: z * z, AutoSparse(AutoJax()), X + 1j), NotDifferentiableError,
     "jacobian: AutoSparse takes real arguments, but one is complex. Pass its real and imaginary parts as two real arrays, or take "
     "the dense Jacobian without AutoSparse."),
    "complex result": (lambda: jacobian(lambda x: 1j * x, AutoSparse(AutoJax(mode="reverse")), X), OutputError,
     "jacobian: a complex result has no rows in reverse mode that a sparse Jacobian could be made of. Return its real and imaginary "
     "parts, or choose a backend with forward mode."),
    "native code": (lambda: jacobian(torch.sin, AutoSparse(AutoTorch(), detect="trace"), X), SparsityError,
     "jacobian: f cannot be traced for its pattern ... Write it with array_namespace..."),
    "other arguments": (lambda: prepare(jacobian, sorted_squares, AutoSparse(AutoTorch(), detect="probe"), X)(X[::-1].copy()),
     SparsityError,
     "jacobian: the derivative has entries outside its pattern (probed) in rows ... It was found at other arguments, where these "
     "entries vanish: make the call without prepare, pass a pattern=... that holds everywhere, or write f so that it can be traced "
     'and take detect="trace".'),
    "traced": (lambda: jax.jit(lambda x: jacobian(chain, AutoSparse(AutoJax()), x)[0].data)(jnp.asarray(X)), SparsityError,
     'jacobian: inside a transformation of jax a SciPy matrix cannot hold what is traced. Take AutoSparse(..., format="native").'),
    "probed in jit": (lambda: jax.jit(lambda x: jacobian(jnp.sin, AutoSparse(AutoJax(), format="native"), x)[0].data)(jnp.ones(3)),
     SparsityError, "...inside a transformation of the engine there are no numbers to probe f with..."),
}  # fmt: skip
HALF = torch.tensor(X, dtype=torch.bfloat16)
WRONGLY_COLOURED = SparsityPattern(np.ones((6, 6))).coloured(
    Colouring("columns", np.zeros(6, int), np.zeros(0, int))
)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)


def test_the_extra_is_named_where_scipy_is_missing():
    program = """
        import sys
        sys.modules["scipy"] = None
        import numpy as np
        import adinterface as ad
        sparse = ad.AutoSparse(ad.AutoFiniteDifferences(), pattern=np.eye(2))
        try:
            ad.jacobian(lambda x: x * x, sparse, np.ones(2))
        except ad.MissingEngineError as error:
            assert error.__suppress_context__
            print(error)
    """
    words = "AutoSparse needs SciPy, which is not installed: pip install 'adinterface[scipy]'"
    assert printed(program) == words


def test_plotting_names_matplotlib_where_it_is_missing():
    without = mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.pyplot": None})
    with without, pytest.raises(MissingEngineError) as missing:
        SparsityPattern(np.eye(2)).plot()
    message = (
        "SparsityPattern.plot needs matplotlib, which is not installed: pip install"
        " 'adinterface[plot]'"
    )
    assert str(missing.value) == message
    assert missing.value.__suppress_context__


def test_without_scipys_private_grouping_the_colours_are_as_few():
    pattern = sparsity(jacobian, PROBLEMS[1].f, AutoAutograd(), PROBLEMS[1].x(60))
    with mock.patch.dict(sys.modules, {"scipy.optimize._numdiff": None}):
        again = sparsity(jacobian, PROBLEMS[1].f, AutoAutograd(), PROBLEMS[1].x(60))
    assert again.colouring.passes == pattern.colouring.passes == 11
    np.testing.assert_array_equal(again.colouring.colours, pattern.colouring.colours)


def test_random_patterns_are_coloured_rightly():
    rng = np.random.default_rng(0)
    for _ in range(60):
        shape = rng.integers(1, 15, 2)
        pattern = SparsityPattern(rng.random(shape) < rng.choice([0.05, 0.2, 0.6]))
        for pushes, pulls in ((True, True), (True, False), (False, True)):
            colouring = choose(pattern, pushes=pushes, pulls=pulls)
            require_valid(pattern, colouring)
            assert colouring.passes <= (shape.min() if pushes and pulls else shape[1 - pulls])
        square = symmetric(SparsityPattern(rng.random((shape[0], shape[0])) < 0.3))
        require_valid(square, by_symmetry(square))
