"""`adinterface.integrations.openmdao`, by OpenMDAO's own check_partials."""

import numpy as np
import pytest
import scipy.sparse as sp
from backends_table import each_engine

pytest.importorskip("openmdao", reason="`make integrations` installs OpenMDAO")

import openmdao.api as om

from adinterface import AutoAutograd, AutoSparse, BackendError, OutputError
from adinterface.integrations.openmdao import partials

# OpenMDAO warns of a name of its own while it loads.
pytestmark = pytest.mark.filterwarnings("ignore:The INF_BOUND sentinel in OpenMDAO is deprecated")

PLACES = np.arange(5)
TWICE = sp.coo_array((np.ones(10), (np.arange(10), np.tile(PLACES, 2))), shape=(10, 5))


class Explicit(om.ExplicitComponent):
    """Partials of every kind: rows and columns, dense, approximated, sparse, diagonal."""

    def setup(self):
        self.add_input("x", np.arange(1.0, 6.0))
        self.add_input("a", 2.0)
        self.add_discrete_input("power", 3)
        self.add_output("y", np.zeros(5))
        self.add_output("total", 0.0)
        self.add_output("rows", np.zeros((2, 5)))
        self.add_output("decay", np.zeros(5))
        self.declare_partials("y", "x", rows=PLACES, cols=PLACES)
        self.declare_partials("y", "a")
        self.declare_partials("total", "*", method="fd")
        self.declare_partials("rows", "x", val=TWICE)
        self.declare_partials("decay", "x", diagonal=True)

    def compute(self, inputs, outputs, discrete_inputs, discrete_outputs):
        x = inputs["x"]
        outputs["y"][:] = np.sin(x) * inputs["a"] ** discrete_inputs["power"]
        outputs["total"] = np.sum(x**2) * inputs["a"][0]
        outputs["rows"][0] = x**2
        outputs["rows"][1, :] = x**3
        outputs["decay"] = np.exp(-x)


class Implicit(om.ImplicitComponent):
    """Nothing is declared: all partials are taken."""

    def setup(self):
        self.add_input("a", np.array([1.0, 2.0, 3.0]))
        self.add_output("u", np.ones(3))

    def apply_nonlinear(self, inputs, outputs, residuals):
        u = outputs["u"]
        residuals["u"] = u**3 + inputs["a"] * u - 5
        residuals["u"][0] += u[1]


def problem_of(component):
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("group", om.Group()).add_subsystem("c", component)
    if isinstance(component, om.ImplicitComponent):
        problem.model.group.nonlinear_solver = om.NewtonSolver(solve_subsystems=False, iprint=-1)
        problem.model.group.linear_solver = om.DirectSolver()
    problem.setup(force_alloc_complex=True)
    problem.run_model()
    return problem


def furthest(problem):
    found = problem.check_partials(method="cs", out_stream=None)["group.c"]
    return max(np.abs(pair["J_fwd"] - pair["J_fd"]).max() for pair in found.values())


@each_engine
@pytest.mark.parametrize("cls", [Explicit, Implicit])
def test_check_partials(cls, backend):
    problem = problem_of(partials(backend)(cls)())
    assert furthest(problem) < 1e-12
    if cls is Implicit:
        np.testing.assert_allclose(
            problem.get_val("group.c.u"), [1.32826886, 1.32826886, 1.1541715], rtol=1e-8
        )


def test_a_sparse_backend_and_a_decorator():
    @partials(AutoSparse(AutoAutograd()))
    class Square(om.ExplicitComponent):
        """x squared."""

        def setup(self):
            self.add_input("x", np.ones(3))
            self.add_output("y", np.ones(3))

        def compute(self, inputs, outputs):
            outputs["y"] = inputs["x"] ** 2

    assert (Square.__name__, Square.__doc__) == ("Square", "x squared.")
    problem = problem_of(Square())
    assert furthest(problem) < 1e-12
    np.testing.assert_allclose(
        problem.compute_totals("group.c.y", "group.c.x")["group.c.y", "group.c.x"], 2 * np.eye(3)
    )


def test_errors():
    with pytest.raises(
        BackendError, match=r"^partials\(backend\): pass a backend value first, not 'jax'\.$"
    ):
        partials("jax")
    with pytest.raises(
        TypeError, match="is no class of explicit or implicit components of OpenMDAO"
    ):
        partials(AutoAutograd())(om.Group)
    with pytest.raises(
        TypeError, match="is no class of explicit or implicit components of OpenMDAO"
    ):
        partials(AutoAutograd())(Explicit())
    with pytest.raises(
        TypeError, match=r"^partials: ImplicitComponent has no method apply_nonlinear, of which"
    ):
        partials(AutoAutograd())(om.ImplicitComponent)

    class Wrong(Implicit):
        def apply_nonlinear(self, inputs, outputs, residuals):
            residuals["u"] = outputs["u"][:2]

    with pytest.raises(ValueError, match="broadcast"):
        problem_of(partials(AutoAutograd())(Wrong)())


class Own(om.ExplicitComponent):
    """Reads and writes its own vectors in place of those that its method is given."""

    def setup(self):
        self.add_input("x", np.ones(3))
        self.add_output("y", np.ones(3))

    def compute(self, inputs, outputs):
        self._outputs["y"] = self._inputs["x"] ** 2


def test_code_that_writes_to_no_output_that_it_is_given_is_refused():
    with pytest.raises(
        OutputError, match=r"partials: Own writes to none of the outputs that its method"
    ):
        problem_of(partials(AutoAutograd())(Own)()).check_partials(method="cs", out_stream=None)
