"""The backend that docs/writing-a-backend.md builds for mygrad: a real engine, installed as anyone
would, through the table.
"""

import json
import re
from pathlib import Path

import pytest
from installed import installed

SOURCE = Path(__file__).parent / "tutorial_backend"
PAGE = Path(__file__).parents[3] / "docs" / "writing-a-backend.md"

#: The outcomes of every scenario on AutoMygrad(); those of the named ones by differences of its
#: gradients.
TABLE = """
import json, sys
from adinterface import AutoFiniteDifferences, SecondOrder
from adinterface_conformance import run_scenario
from adinterface_studies.scenarios import SCENARIOS
from adinterface_mygrad import FIRST_ORDER_ONLY, AutoMygrad

def table(backend, scenarios):
    outcomes = [outcome for scenario in scenarios for outcome in run_scenario(scenario, backend)]
    return [(o.scenario, o.check, o.status, o.message, o.reason, o.link) for o in outcomes]

names = sys.argv[1:]
if names:
    outcomes = table(SecondOrder(AutoFiniteDifferences(), AutoMygrad()), [s for s in SCENARIOS if s.name in names])
else:
    outcomes = table(AutoMygrad(), SCENARIOS)
print(json.dumps([outcomes, FIRST_ORDER_ONLY]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return installed(SOURCE, tmp_path_factory.mktemp("tutorial"))


@pytest.fixture(scope="module")
def table(run):
    return json.loads(run("-c", TABLE))


def test_the_table_holds(table):
    alone, _ = table
    wrong = [outcome for outcome in alone if outcome[2] not in ("passed", "known")]
    assert not wrong, "\n".join(map(str, wrong))
    passed = {name for name, *_ in alone} - {
        name for name, _, status, *_ in alone if status != "passed"
    }
    assert len(passed) >= 300
    assert all(
        reason and link.startswith("https://")
        for _, _, status, _, reason, link in alone
        if status == "known"
    )


def test_what_mygrad_cannot_do_alone_it_does_inside_finite_differences(run, table):
    alone, first_order_only = table
    paired, _ = json.loads(
        run("-c", TABLE, *{name for name, *_, reason, _ in alone if reason == first_order_only})
    )
    # The list of known failures is mygrad's own, so here what stands there for that reason must
    # pass, unexpectedly.
    wrong = [
        outcome
        for outcome in paired
        if outcome[2] not in ("passed", "known") and outcome[4] != first_order_only
    ]
    wrong += [
        outcome for outcome in paired if outcome[2] == "known" and outcome[4] == first_order_only
    ]
    assert not wrong, "\n".join(map(str, wrong))
    assert len({name for name, *_ in paired}) >= 90


def test_the_session_of_the_page(run):
    run(
        "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS", str(SOURCE / "session.txt")
    )


def test_the_three_files_of_the_first_engine_install(tmp_path):
    source = tmp_path / "page"
    source.mkdir()
    for caption, code in re.findall(
        r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", PAGE.read_text(), re.M | re.S
    ):
        (source / caption).write_text(code)
    run = installed(source, tmp_path)
    assert {path.name for path in (tmp_path / "site").glob("*.py")} == {
        "dual.py",
        "adinterface_dual.py",
    }
    call = (
        "from adinterface import *; from adinterface_dual import *; print(gradient(lambda x: x * x"
        " * x, AutoDual(), 2.0))"
    )
    assert run("-c", call) == "(12.0,)\n"
    assert run("-m", "adinterface").splitlines()[-1].endswith("pip install adinterface-dual")
