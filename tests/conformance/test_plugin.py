"""The pytest plugin and `assert_backends_agree`, as the owner of another project uses them."""

import re
import shutil
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from adinterface_conformance import installed
from adinterface_conformance.testing import KinkWarning, assert_backends_agree
from backends_table import BACKENDS
from forked import printed

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch
from adinterface.core.contract.errors import BackendError

pytest_plugins = "pytester"
DOWNSTREAM = Path(__file__).parent / "downstream" / "lighthouse"
STRANGER = Path(__file__).parents[1] / "engines" / "small_engines"
QUICK = "--adinterface-backends=AutoAutograd,AutoFiniteDifferences"


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest in a process of its own on one test file, without the plugins of others."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def program(text, *options):
        pytester.makepyfile(textwrap.dedent(text))
        plugins = ("-p", "adinterface_conformance.plugin", "-p", "no:cacheprovider")
        return pytester.runpytest_subprocess(*plugins, *options)

    return program


ASKS = """
    import pytest
    def test_backend(adinterface_backend):
        assert type(adinterface_backend)() == adinterface_backend
"""


def test_a_test_of_hypothesis_may_be_in_a_class(run, pytester):
    pytester.makeconftest("""
        import pytest
        @pytest.fixture(scope="session")
        def backend(adinterface_backend):
            return adinterface_backend
    """)
    result = run(
        """
        import pytest
        from hypothesis import given, settings, strategies
        class TestInAClass:
            @settings(deadline=None)
            @given(x=strategies.floats(1.0, 2.0))
            def test_passes(self, adinterface_backend, x):
                assert 1 <= x <= 2
            @settings(deadline=None)
            @given(x=strategies.floats(1.0, 2.0))
            def test_passes_by_another_name(self, backend, x):
                assert 1 <= x <= 2
            @pytest.mark.parametrize("n", [1, 2])
            @pytest.mark.adinterface(skip={"AutoAutograd": "why"}, xfail={"AutoFiniteDifferences": "why"})
            @settings(deadline=None)
            @given(x=strategies.floats(1.0, 2.0))
            def test_marked(self, adinterface_backend, n, x):
                assert x < 1
        """,
        QUICK, "-p", "_hypothesis_pytestplugin",
    )  # fmt: skip
    result.assert_outcomes(passed=4, skipped=2, xfailed=2)


# The project of somebody else
# ----------------------------------------------------------------------------------------


def test_a_downstream_project(pytester):
    shutil.copytree(
        DOWNSTREAM, pytester.path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    result = pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=11, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines([
        "*::test_the_gradient_is_right[[]AutoJax[]] PASSED*",
        "*::test_the_gradient_is_right[[]AutoFiniteDifferences[]] PASSED*",
        "*::test_in_place[[]AutoJax[]] XFAIL*",
        "*::test_in_place[[]AutoAutograd[]] SKIPPED*",
        "*::test_all_backends_agree PASSED*",
    ])  # fmt: skip


# The fixture and its option
# ------------------------------------------------------------------------------------------


def test_the_fixture_runs_over_the_installed_backends(run):
    result = run(ASKS, "--collect-only", "-q")
    names = [
        line.partition("[")[2].rstrip("]") for line in result.outlines if "::test_backend[" in line
    ]
    assert names == [type(backend).__name__ for backend in (*BACKENDS.values(),)]


def test_the_option_selects_in_its_own_order(run):
    result = run(ASKS, "--adinterface-backends=AutoFiniteDifferences, AutoAutograd", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*test_backend[[]AutoFiniteDifferences[]] PASSED*",
            "*test_backend[[]AutoAutograd[]] PASSED*",
        ]
    )


def test_assert_backends_agree_takes_the_selection(run):
    result = run(
        """
        from adinterface_conformance.testing import assert_backends_agree
        def test_agreement():
            report = assert_backends_agree(lambda x: x * x, 3.0)
            assert [m.name for m in report.backends] == ["AutoAutograd()", "AutoFiniteDifferences()"]
        """,
        QUICK,
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("AutoJaks", "ERROR: --adinterface-backends: there is no backend AutoJaks. Installed are AutoJax, AutoTorch, "
                     "AutoAutograd, AutoFiniteDifferences."),
        (" , ", "ERROR: --adinterface-backends names no backend. Write names such as AutoJax, with commas between them."),
    ],
)  # fmt: skip
def test_a_wrong_option_says_what_there_is(run, option, message):
    result = run(ASKS, f"--adinterface-backends={option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.errlines


def test_a_test_or_a_project_may_have_a_backend_of_its_own(run, pytester):
    pytester.makeconftest("""
        import pytest
        @pytest.fixture
        def backend():  # a common name, which the plugin leaves to projects
            return "own"
    """)
    result = run("""
        import pytest
        from adinterface import AutoAutograd
        def test_common(backend):
            assert backend == "own"
        @pytest.mark.parametrize("adinterface_backend", [AutoAutograd(mode="forward")])
        def test_parametrized(adinterface_backend):
            assert adinterface_backend.mode == "forward"
        class TestOwn:
            @pytest.fixture
            def adinterface_backend(self):
                return "own"
            def test_own(self, adinterface_backend):
                assert adinterface_backend == "own"
    """)
    result.assert_outcomes(passed=3)


def test_a_strangers_backend_is_found(run, pytester, monkeypatch):
    shutil.copytree(
        STRANGER,
        pytester.path,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__", "pyproject.toml"),
    )
    info = pytester.mkdir("strangers-1.0.dist-info")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[adinterface.backends]\ndualnum = adinterface_dual:DualBackend\nabsent ="
        " nowhere_to_be_found:Backend\n"
    )
    (pytester.path / "nowhere_to_be_found.py").write_text("import absent")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    test = """
        from adinterface import gradient
        def test_gradient(adinterface_backend):
            assert gradient(lambda x: x * x * x, adinterface_backend, 2.0) == (12.0,)
    """
    result = run(test, "--adinterface-backends=AutoDual,AutoAutograd", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_gradient[[]AutoDual[]] PASSED*"])
    collected = run(test, "--collect-only", "-q").stdout.str()
    assert "[AutoDual]" in collected
    assert "absent" not in collected.lower()


def test_a_stranger_without_a_value_is_told_to_define_one(monkeypatch):
    class Nameless(installed.registry.Backend):
        pass

    monkeypatch.setattr(installed.registry, "backend_class", lambda name: Nameless)
    with pytest.raises(BackendError) as error:
        installed.value_of.__wrapped__("nameless")
    assert str(error.value).endswith(
        "Nameless is the backend named 'nameless', but no subclass of AutoBackend has that name."
        f" Define its AutoBackend in {__name__}, with name = 'nameless'."
    )


# The marker
# ------------------------------------------------------------------------------------------------


def test_the_marker_is_registered_and_the_nearest_decides(run):
    result = run(
        """
        import pytest
        pytestmark = pytest.mark.adinterface(skip={"AutoAutograd": "far"})
        def test_skipped(adinterface_backend):
            pass
        @pytest.mark.adinterface(xfail={"AutoAutograd": "near"})
        def test_expected_to_fail(adinterface_backend):
            assert type(adinterface_backend).__name__ != "AutoAutograd"
        @pytest.mark.adinterface(xfail={"AutoAutograd": "near"})
        def test_passes_unexpectedly(adinterface_backend):
            pass
        @pytest.mark.adinterface(skip={"AutoElsewhere": "not installed here"})
        def test_other(adinterface_backend):
            pass
        """,
        QUICK, "--strict-markers", "-rsxX", "-o", "xfail_strict=true",
    )  # fmt: skip
    result.assert_outcomes(passed=4, skipped=2, xfailed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*XPASS(strict)* near", "*XFAIL*test_expected_to_fail[[]AutoAutograd[]] - near"]
    )
    assert (
        "adinterface(only=[name], skip={name: reason}, xfail={name: reason})"
        in run("", "--markers").stdout.str()
    )


MISUSES = {
    "'AutoJax'": "it takes no positional arguments, not 'AutoJax'",
    "fail={'AutoJax': 'why'}": "it takes only, skip and xfail, not fail",
    "skip='AutoJax'": "skip must be a dict of a reason for each backend, not 'AutoJax'",
    "only='AutoJax'": "only must be a list of backends, not 'AutoJax'",
    "only=['AutoTorhc']": "there is no backend AutoTorhc, but AutoTorch",
    "xfail={'AutoJax': ''}": (
        "xfail must be a dict of a reason for each backend, not {'AutoJax': ''}"
    ),
}


def test_a_misused_marker_says_how_to_write_it(run, pytester):
    for n, marker in enumerate(MISUSES):
        test = (
            f"import pytest\n@pytest.mark.adinterface({marker})\ndef"
            " test_it(adinterface_backend):\n    pass"
        )
        pytester.makepyfile(**{f"test_misuse_{n}": test})
    result = run("", QUICK)
    result.assert_outcomes(errors=len(MISUSES))
    for problem in MISUSES.values():
        assert (
            f"test_it: the marker adinterface is misused: {problem}. Write"
            " @pytest.mark.adinterface(only=[AutoX], skip={'AutoY': 'why'}, xfail={'AutoZ':"
            " 'why'})." in result.stdout.str()
        )


def test_the_marker_narrows_the_backends(run):
    result = run(
        """
        import pytest
        from adinterface import AutoAutograd
        seen = []
        @pytest.mark.adinterface(only=[AutoAutograd, "AutoTorch"])
        def test_some(adinterface_backend):
            seen.append(type(adinterface_backend).__name__)
        def test_which():
            assert set(seen) <= {"AutoAutograd", "AutoTorch"} and "AutoAutograd" in seen
        """,
        "--adinterface-backends=AutoAutograd,AutoFiniteDifferences",
    )
    result.assert_outcomes(passed=2)


def test_a_marker_without_the_fixture_is_an_error(run):
    result = run(
        """
        import pytest
        @pytest.mark.adinterface(skip={"AutoAutograd": "why"})
        def test_it():
            pass
        """,
        QUICK,
    )
    assert (
        "::test_it: the marker adinterface has no effect, because the test does not take the"
        " fixture `adinterface_backend`." in (result.stdout.str() + result.stderr.str())
    )
    assert result.ret != 0


# What it costs
# ------------------------------------------------------------------------------------------------


def test_the_plugin_imports_nothing_at_the_start_of_pytest():
    program = """
    import sys
    import pytest
    before = set(sys.modules)
    import adinterface_conformance.plugin
    print(*{name.partition(".")[0] for name in set(sys.modules) - before})
    """
    assert printed(program) == "adinterface_conformance"


def test_no_engine_is_imported_before_a_test_runs_with_it(run):
    result = run(
        """
        import sys
        def test_no_engine():
            assert not {"jax", "torch", "autograd"} & set(sys.modules)
        def test_backend(adinterface_backend):
            assert adinterface_backend.name not in sys.modules
        """
    )
    result.assert_outcomes(passed=5)


# assert_backends_agree
# -----------------------------------------------------------------------------------------------


@jax.custom_vjp
def wrong_square(x):
    return x * x


wrong_square.defvjp(lambda x: (x * x, x), lambda x, g: (g * x * jnp.array([2.0, -2.0, 2.0]),))


def loss(t):
    square = wrong_square if isinstance(t["b"], jax.Array) else lambda x: x * x
    return (t["a"] ** 2).sum() + square(t["b"]).sum()


TREE = {"a": np.ones(2), "b": np.array([1.0, 2.0, 3.0])}


def test_a_disagreement_shows_the_leaves_side_by_side():
    with pytest.raises(AssertionError) as error:
        assert_backends_agree(loss, TREE, backends=[AutoTorch(), AutoJax(), AutoAutograd()])
    assert str(error.value) == textwrap.dedent(
        """\
        gradient: AutoJax() and AutoTorch() disagree
          gradient[0]['b'], shape (3,)
            AutoJax(): largest difference 8, allowed 2.43e-09, relative 1.33
                 AutoTorch()  AutoJax()  AutoAutograd()
            [0]            2          2               2
            [1]            4         -4               4
            [2]            6          6               6
        If the engines are this accurate and no more, pass rtol=... or atol=...; check_gradient tells which is wrong."""
    )


def test_large_leaves_and_many_leaves_are_shortened():
    def f(leaves):
        return sum(
            ((wrong if isinstance(x, jax.Array) else lambda x: x * x)(x)).sum() for x in leaves
        )

    @jax.custom_vjp
    def wrong(x):
        return x * x

    wrong.defvjp(lambda x: (x * x, x), lambda x, g: (-g * x,))
    with pytest.raises(AssertionError) as error:
        assert_backends_agree(
            f, [np.ones((3, 4)) for _ in range(10)], backends=[AutoTorch(), AutoJax()]
        )
    assert "    (the 6 of 12 numbers that differ most)" in str(error.value).splitlines()
    assert "  ... and 2 more leaves" in str(error.value).splitlines()
    assert "    [1, 1]            2         -1" in str(error.value).splitlines()


def test_an_error_of_a_backend_is_a_failure_and_the_cause():
    def f(x):
        if isinstance(x, jax.Array):
            raise ValueError("not with me")
        return x * x

    with pytest.raises(AssertionError) as error:
        assert_backends_agree(f, 2.0, backends=[AutoJax(), AutoAutograd()])
    assert (
        str(error.value) == "gradient: AutoJax() failed\n  AutoJax() raised ValueError: not with me"
    )
    assert isinstance(error.value.__cause__, ValueError)


def test_a_kink_warns():
    where = "gradient: f has a kink at this point, where backends may differ: gradient[0]."
    message = f"{where} Choose another point to compare them."
    with pytest.warns(KinkWarning, match=f"^{re.escape(message)}$"):
        assert_backends_agree(abs, 0.0, backends=[AutoJax(), AutoTorch(), AutoFiniteDifferences()])
