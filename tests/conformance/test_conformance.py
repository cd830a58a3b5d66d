"""The conformance table: every scenario times every law that applies to it, and those with closed
formulas in each mode.
"""

import pytest
from adinterface_conformance import conformance_tests
from adinterface_conformance.checks import CHECKS, checks_for
from adinterface_conformance.outcome import known_failures
from adinterface_conformance.uses import USES
from adinterface_studies.functions.numpy_code import USES as NUMPY_CODE
from adinterface_studies.scenarios import EXAMPLES, SCENARIOS
from backends_table import BACKENDS, FORMULAS

from adinterface import AutoAutograd, AutoJax, AutoTorch

# torch says so of the conjugate in a batch of pushforwards, once in a process.
pytestmark = pytest.mark.filterwarnings(
    "ignore:There is a performance drop because we have not yet implemented the batching"
)

test_conformance = conformance_tests(
    *BACKENDS.values(), scenarios=[each for each in SCENARIOS if each not in EXAMPLES]
)
# The steps of differences do not depend on what f is made of, and JAX would compile each.
test_examples = conformance_tests(BACKENDS["torch"], BACKENDS["autograd"], scenarios=EXAMPLES)
test_modes = conformance_tests(
    *[
        auto(mode=mode)
        for auto in (AutoJax, AutoTorch, AutoAutograd)
        for mode in ("forward", "reverse")
    ],
    scenarios=[each for each in SCENARIOS if each.family in FORMULAS],
)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_every_check_applies_somewhere(backend):
    found = {check.name for scenario in SCENARIOS for check in checks_for(scenario, backend)}
    unasked = {name for name, check in CHECKS.items() if check.unasked(backend)}
    assert unasked == {"finite": {"own_arrays"}, "autograd": {"own_arrays"}}.get(
        next(name for name, each in BACKENDS.items() if each == backend), set()
    )
    assert found == set(CHECKS) - unasked - (
        # Executors serve the evaluations of differences.
        {"evaluations"} if backend == BACKENDS["finite"] else {"workers"}
    )


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_known_failures_concern_something_and_say_why(backend):
    from fnmatch import fnmatchcase

    for known in known_failures(backend):
        assert known.reason, known
        assert known.link.startswith(("https://", "docs/")), known
        if known.scenario.startswith(("function:", "numpy:")):  # of the tables of functions
            assert any(fnmatchcase(use.key, known.scenario) for use in (*USES, *NUMPY_CODE)), known
            continue
        assert any(fnmatchcase(scenario.name, known.scenario) for scenario in SCENARIOS), known
        assert any(fnmatchcase(check, known.check) for check in CHECKS), known
